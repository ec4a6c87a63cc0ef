package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows on a terminal what takes long, below all other output, and removes it
// afterwards. Without a terminal it does nothing.
type Progress struct {
	to     io.Writer
	screen *Screen // other output of the command; nil: none
	shown  bool

	mu    sync.Mutex
	lines *mpb.Progress // nil before the first line
	all   []*Bar
}

// NewProgress shows progress on to if shown is set. Other output on the screen appears above
// it.
func NewProgress(to io.Writer, screen *Screen, shown bool) *Progress {
	return &Progress{to: to, screen: screen, shown: shown}
}

// Watched reports whether a writer or reader is a terminal.
func Watched(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f)
}

// Shown reports whether progress is shown.
func (p *Progress) Shown() bool { return p.shown }

// Bar is one slow operation. Its methods are safe for concurrent use.
type Bar struct{ bar *mpb.Bar } // nil: not shown

// Spinner shows that something runs, and for how long.
func (p *Progress) Spinner(name string) *Bar {
	return p.add(mpb.SpinnerStyle().PositionLeft().Build(),
		mpb.PrependDecorators(decor.Name(OneLine(name))), mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
}

// painted replaces our colour marks by escape sequences, and makes all else legible.
func painted(s string) string { return strings.ReplaceAll(legible(s), paintMark, "\x1b[") }

func (p *Progress) add(filler mpb.BarFiller, options ...mpb.BarOption) *Bar {
	if !p.shown {
		return &Bar{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		p.lines = mpb.New(mpb.WithOutput(p.to), mpb.WithAutoRefresh())
		p.screen.divert(p.lines)
	}
	bar, err := p.lines.Add(0, filler, options...)
	if err != nil {
		return &Bar{} // the terminal has gone
	}
	b := &Bar{bar}
	p.all = append(p.all, b)
	return b
}

// Done removes the line. It may be called more than once.
func (b *Bar) Done() {
	if b.bar != nil {
		b.bar.Abort(true)
	}
}

// Close removes all remaining lines; the next line begins a new display. Print results after it.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		return
	}
	for _, b := range p.all {
		b.Done()
	}
	p.lines.Wait()
	p.screen.divert(nil)
	p.lines, p.all = nil, nil
}

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
