package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cli/go-gh/v2/pkg/term"
)

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
