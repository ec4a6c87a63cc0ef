package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/terminal"
	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/cli/go-gh/v2/pkg/text"
)

// Prompter asks a person, as gh does. It uses the library below gh's own prompter, because that one
// imports test tools.
type Prompter struct{ in, out, errs *os.File }

// shown is how many options are shown at a time.
const shown = 20

// NewPrompter returns nil if nobody can be asked: input or output is no terminal.
func NewPrompter(in io.Reader, out, errs io.Writer) *Prompter {
	files := [3]*os.File{}
	for i, f := range []any{in, out, errs} {
		file, ok := f.(*os.File)
		if !ok || i < 2 && !term.IsTerminal(file) {
			return nil
		}
		files[i] = file
	}
	return &Prompter{files[0], files[1], files[2]}
}

// matches finds an option by a part of it, with or without accents.
func matches(typed, option string, _ int) bool {
	typed, option = strings.ToLower(typed), strings.ToLower(option)
	return strings.Contains(option, typed) || strings.Contains(text.RemoveDiacritics(option), typed)
}

// Select asks for one option and returns its index.
func (p *Prompter) Select(question, usual string, options []string) (int, error) {
	q := &survey.Select{Message: question, Options: options, PageSize: shown, Filter: matches}
	if slices.Contains(options, usual) {
		q.Default = usual
	}
	return answered[int](p, q)
}

// MultiSelect asks for any number of options and returns their indexes.
func (p *Prompter) MultiSelect(question string, usual, options []string) ([]int, error) {
	there := slices.DeleteFunc(slices.Clone(usual), func(u string) bool { return !slices.Contains(options, u) })
	return answered[[]int](p, &survey.MultiSelect{Message: question, Options: options, PageSize: shown, Filter: matches, Default: there})
}

// Input asks for a line.
func (p *Prompter) Input(question, usual string) (string, error) {
	return answered[string](p, &survey.Input{Message: question, Default: usual})
}

// Confirm asks for yes or no.
func (p *Prompter) Confirm(question string, usual bool) (bool, error) {
	return answered[bool](p, &survey.Confirm{Message: question, Default: usual})
}

// answered asks, and translates Ctrl-C, Ctrl-D and a closed terminal to the errors used elsewhere.
func answered[T any](p *Prompter, q survey.Prompt) (answer T, err error) {
	err = survey.AskOne(q, &answer, survey.WithStdio(p.in, p.out, p.errs))
	switch {
	case errors.Is(err, terminal.InterruptErr), errors.Is(err, io.EOF):
		err = context.Canceled
	case err != nil:
		err = fmt.Errorf("ask: %w", err)
	}
	return answer, err
}

// CanAsk reports whether a person can be asked: input and output are a terminal.
func (o Output) CanAsk(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && o.TTY && term.IsTerminal(f)
}

// Confirm asks a person a question. Any answer but yes, and Ctrl-C, means no.
func (o Output) Confirm(ctx context.Context, in io.Reader, question string) (bool, error) {
	if _, err := fmt.Fprintf(o.W, "%s [y/N] ", question); err != nil {
		return false, err
	}
	if s, ok := o.W.(*Screen); ok {
		s.Flush()
	}
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // a closed terminal is not a yes
		typed <- line
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case line := <-typed:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	}
}
