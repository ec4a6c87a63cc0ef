package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/term"
)

// Page is a terminal's screen that is drawn again and again, on a page of its own: what
// stood there before comes back when it is closed.
type Page struct {
	to   io.Writer
	last string
}

// NewPage takes the terminal over; bare is written to without a Screen.
func NewPage(bare io.Writer) *Page {
	_, _ = io.WriteString(bare, "\x1b[?1049h\x1b[?25l")
	return &Page{to: bare}
}

// Draw shows what print prints, in as many lines as the terminal has. Its output is the
// page's.
func (p *Page) Draw(print func(Output) error) error {
	var b bytes.Buffer
	screen := NewScreen(&b)
	out := Open(screen, p.to)
	if err := print(out); err != nil {
		return err
	}
	screen.Flush()
	p.last = b.String()
	_, err := io.WriteString(p.to, "\x1b[H"+strings.Join(fitted(p.last, height()), "\x1b[K\r\n")+"\x1b[K\x1b[J")
	return err
}

// Close gives the terminal back, and leaves on it what was shown last.
func (p *Page) Close() {
	_, _ = io.WriteString(p.to, "\x1b[?25h\x1b[?1049l"+p.last)
}

// height is how many lines the terminal has; 0: nobody knows.
func height() int {
	_, h, err := term.FromEnv().Size()
	if err != nil {
		return 0
	}
	return h
}

// fitted are the lines of a text that a terminal has room for; how many more there are
// stands in the last one.
func fitted(text string, height int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if height < 2 || len(lines) <= height {
		return lines
	}
	return append(slices.Clone(lines[:height-1]), fmt.Sprintf("… %d more lines; a taller terminal shows them", len(lines)-height+1))
}
