package logs

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// printer prints lines.
type printer struct {
	out  terminal.Output
	raw  bool
	json terminal.JSON
}

// print prints a line; b is the line as stored.
func (p *printer) print(l line, b []byte) error {
	switch {
	case p.raw:
		return p.printRaw(l, b)
	case !p.out.TTY: // for programs
		return p.out.Table(nil, [][]string{{p.out.When(l.at, l.at), l.level, l.item(), l.kind, work.Short(l.turn), l.says()}})
	}
	level := fmt.Sprintf("%-5s", strings.ToUpper(l.level))
	said := strings.Join(slices.DeleteFunc([]string{l.item(), p.out.Words(l.kind), l.says()}, func(s string) bool { return s == "" }), " ")
	text := p.out.Hanging(l.at.Local().Format("2006-01-02 15:04:05")+"  "+level+"  ", shorter(said))
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

// printRaw prints a line unchanged, or filtered by jq.
func (p *printer) printRaw(l line, b []byte) error {
	if p.json.JQ == "" {
		w := p.out.Bare
		if p.out.TTY { // a line that is not JSON may hold control characters
			w = p.out.W
		}
		_, err := fmt.Fprintf(w, "%s\n", b)
		return err
	}
	var object map[string]any
	if l.text != "" {
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
