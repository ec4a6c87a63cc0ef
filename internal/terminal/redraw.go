package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/term"
)

// Page is a terminal's alternate screen, redrawn repeatedly. When it is closed, the former content
// returns.
type Page struct {
	to   io.Writer
	last string
}

// NewPage switches to the alternate screen; bare is the terminal without a Screen.
func NewPage(bare io.Writer) *Page {
	_, _ = io.WriteString(bare, "\x1b[?1049h\x1b[?25l")
	return &Page{to: bare}
}

// Draw shows what print writes to its Output, cut to the terminal's height.
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

// Close leaves the alternate screen and prints its last content.
func (p *Page) Close() {
	_, _ = io.WriteString(p.to, "\x1b[?25h\x1b[?1049l"+p.last)
}

// height is the terminal's number of lines; 0: unknown.
func height() int {
	_, h, err := term.FromEnv().Size()
	if err != nil {
		return 0
	}
	return h
}

// fitted returns the lines that fit on a terminal; the last one tells how many more there are.
func fitted(text string, height int) []string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if height < 2 || len(lines) <= height {
		return lines
	}
	return append(slices.Clone(lines[:height-1]), fmt.Sprintf("… %d more lines; a taller terminal shows them", len(lines)-height+1))
}
