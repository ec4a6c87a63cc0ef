package main

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// drawing collects the elements of an SVG picture, from the top down.
type drawing struct {
	b             strings.Builder
	width, height int
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// text draws a line. Blanks stay as they are.
func (d *drawing) text(x, y int, class, s string) {
	d.add(`<text x="%d" y="%d" class="%s" xml:space="preserve">%s</text>`, x, y, class, escape(s))
}

func (d *drawing) box(x, y, w, h int, class string) {
	d.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="6" class="%s"/>`, x, y, w, h, class)
}

// svg is the whole picture, for light and dark pages alike: it has a ground of its own.
func (d *drawing) svg(label, style string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">
<style>%s</style>
<rect width="%d" height="%d" rx="8" class="ground"/>
%s</svg>
`, d.width, d.height, d.width, d.height, escape(label), style, d.width, d.height, d.b.String())
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes everything
	return b.String()
}

// The size of a character, and of a line, in a terminal's picture.
const (
	charWidth  = 8.43
	lineHeight = 20
	margin     = 16
)

const terminalStyle = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3}
.ground{fill:#0d1117}.bar{fill:#161b22}.dim{fill:#8b949e}.bold{font-weight:700}.title{fill:#8b949e}.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#e3b341}.cyan{fill:#79c0ff}`

// terminal draws what a terminal shows of an output.
func terminal(title, output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	most := len([]rune(title))
	for _, line := range lines {
		most = max(most, len([]rune(sequences().ReplaceAllString(line, ""))))
	}
	d := drawing{width: 2*margin + int(float64(most)*charWidth), height: 3*margin + lineHeight*(len(lines)+1)}
	d.text(margin, margin+lineHeight/2, "title", "$ "+title)
	for i, line := range lines {
		d.styled(2*margin+lineHeight*(i+1)+4, line)
	}
	return d.svg("What "+title+" shows on a terminal", terminalStyle)
}

// sequences are those by which a terminal changes colours and weights.
var sequences = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[([0-9;]*)m") })

// classes are how they look.
var classes = map[string]string{"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan", "34": "cyan", "90": "dim"}

// styled draws a line with its colours, each part where the characters before it end.
func (d *drawing) styled(y int, line string) {
	class, column := "", 0
	put := func(part string) {
		if part != "" {
			d.text(margin+int(float64(column)*charWidth), y, class, part)
			column += len([]rune(part))
		}
	}
	rest := line
	for {
		at := sequences().FindStringSubmatchIndex(rest)
		if at == nil {
			put(rest)
			return
		}
		put(rest[:at[0]])
		class = classes[rest[at[2]:at[3]]]
		rest = rest[at[1]:]
	}
}
