package logs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// printer prints lines.
type printer struct {
	out  terminal.Output
	raw  bool
	json terminal.JSON
	last string // the group of the last line

	heading line // the first line of that group
}

// follow prints a line if it is selected.
func (p *printer) follow(b []byte, f filter) error {
	if !f.wants(read(b)) {
		return nil
	}
	return p.print(b)
}

// print prints a line, with a heading first if its group is new.
func (p *printer) print(b []byte) error {
	if p.raw {
		return p.printRaw(b)
	}
	l := read(b)
	if !p.out.TTY {
		return p.printBare(l)
	}
	if group := l.group(); group != p.last {
		p.last, p.heading = group, l
		if _, err := fmt.Fprintf(p.out.W, "%s\n", p.out.Bold(l.heading())); err != nil {
			return err
		}
	}
	level := fmt.Sprintf("%-5s", strings.ToUpper(l.level))
	text := p.out.Hanging("  "+l.at.Local().Format("15:04:05")+"  "+level+"  ", shorter(l.says(p.heading)))
	if code := colour(l.level); code != "" {
		text = strings.Replace(text, level, p.out.Paint(code, level), 1)
	}
	_, err := fmt.Fprint(p.out.W, text)
	return err
}

// digests matches long hashes, which are shortened.
var digests = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{40,64}\b`) })

func shorter(s string) string {
	return digests().ReplaceAllStringFunc(s, func(d string) string { return d[:12] })
}

// heading is the title of the line's group.
func (l line) heading() string {
	day := l.at.Local().Format(time.DateOnly)
	switch {
	case l.turn != "":
		return strings.TrimSpace(fmt.Sprintf("%s  %s  %s  turn %s", day, l.item(), l.kind, work.Short(l.turn)))
	case l.pass == "":
		return day
	}
	return fmt.Sprintf("%s  pass %s", day, l.pass)
}

func (l line) item() string {
	if l.number == 0 {
		return l.repo
	}
	return fmt.Sprintf("%s#%d", l.repo, l.number)
}

// printBare prints a line for programs.
func (p *printer) printBare(l line) error {
	return p.out.Table(nil, [][]string{{p.out.When(l.at, l.at), l.level, l.item(), l.kind, work.Short(l.turn), l.says(line{turn: "its own", kind: l.kind})}})
}

// printRaw prints a line unchanged, or filtered by jq or a template.
func (p *printer) printRaw(b []byte) error {
	if p.json.JQ == "" && p.json.Template == "" {
		w := p.out.Bare
		if p.out.TTY { // a line that is not JSON may hold control characters
			w = p.out.W
		}
		_, err := fmt.Fprintf(w, "%s\n", b)
		return err
	}
	var object map[string]any
	if read(b).text != "" {
		return nil // jq returned nothing
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return fmt.Errorf("read a line of the log: %w", err)
	}
	asked := p.json
	asked.Fields = slices.Collect(maps.Keys(object))
	return asked.Write(p.out, object)
}

// colour returns the ANSI code for a level.
func colour(level string) string {
	switch rank(level) {
	case rank("debug"):
		return "2"
	case rank("warn"):
		return "33"
	case rank("error"):
		return "31"
	}
	return ""
}
