package terminal

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/AlecAivazis/survey/v2/terminal"
	"github.com/cli/go-gh/v2/pkg/prompter"
	"github.com/cli/go-gh/v2/pkg/term"
)

// Prompter asks a person, as gh does.
type Prompter struct{ p *prompter.Prompter }

// NewPrompter is nil where nobody can be asked: input or output is no terminal.
func NewPrompter(in io.Reader, out, errs io.Writer) *Prompter {
	files := [3]*os.File{}
	for i, f := range []any{in, out, errs} {
		file, ok := f.(*os.File)
		if !ok || i < 2 && !term.IsTerminal(file) {
			return nil
		}
		files[i] = file
	}
	return &Prompter{prompter.New(files[0], files[1], files[2])}
}

// Select has one of several chosen, and gives its place.
func (p *Prompter) Select(question, usual string, options []string) (int, error) {
	return answered(p.p.Select(question, usual, options))
}

// MultiSelect has some of several chosen, and gives their places.
func (p *Prompter) MultiSelect(question string, usual, options []string) ([]int, error) {
	return answered(p.p.MultiSelect(question, usual, options))
}

// Input asks for a line.
func (p *Prompter) Input(question, usual string) (string, error) {
	return answered(p.p.Input(question, usual))
}

// Confirm asks for yes or no.
func (p *Prompter) Confirm(question string, usual bool) (bool, error) {
	return answered(p.p.Confirm(question, usual))
}

// answered makes of Ctrl-C, Ctrl-D and a terminal that went away what they are elsewhere.
func answered[T any](answer T, err error) (T, error) {
	if errors.Is(err, terminal.InterruptErr) || errors.Is(err, io.EOF) {
		err = context.Canceled
	}
	return answer, err
}
