package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// line is one line of the log. If it is not JSON, only text is set.
type line struct {
	at     time.Time
	level  string
	msg    string
	repo   string
	number int // of the issue
	pull   int
	turn   string
	kind   string
	rest   []field // the others, in their order
	text   string  // the line, if it is not JSON
}

type field struct{ key, value string }

// read parses a line, a flat object. The order of its fields is kept.
func read(b []byte) line {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var l line
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return line{text: string(b)}
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return line{text: string(b)}
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return line{text: string(b)}
		}
		l.set(fmt.Sprint(key), v)
	}
	if _, err := d.Token(); err != nil { // the line was cut
		return line{text: string(b)}
	}
	return l
}

func (l *line) set(key string, v any) {
	text := fmt.Sprint(v)
	switch key {
	case "time":
		l.at, _ = time.Parse(time.RFC3339Nano, text)
	case "level":
		l.level = strings.ToLower(text)
	case "msg":
		l.msg = text
	case "repo_full_name":
		l.repo = text
	case "issue_number":
		l.number, _ = strconv.Atoi(text)
	case "pr_number":
		l.pull, _ = strconv.Atoi(text)
	case "turn_key":
		l.turn = text
	case "kind":
		l.kind = text
	case "pass", "work_item_id":
	default:
		l.rest = append(l.rest, field{key, text})
	}
}

// get returns one of the other fields.
func (l line) get(key string) string {
	for _, f := range l.rest {
		if f.key == key {
			return f.value
		}
	}
	return ""
}

// says is the line in words, without its time, level, item and kind.
func (l line) says() string {
	switch {
	case l.text != "":
		return l.text
	case l.msg == "agent says":
		return "│ " + l.get("line")
	case l.msg == "turn changed":
		return strings.TrimSpace(l.get("what") + "  " + l.get("detail"))
	}
	said := []string{l.msg}
	for _, f := range l.rest {
		if f.value != "" {
			said = append(said, f.key+"="+f.value)
		}
	}
	return strings.Join(said, "  ")
}

func (l line) item() string {
	if l.number == 0 {
		return l.repo
	}
	return fmt.Sprintf("%s#%d", l.repo, l.number)
}

// filter selects lines.
type filter struct {
	least  string // level
	since  time.Time
	repo   string // owner/name; empty: all
	number int
	item   string // the item's name for messages
	turn   string // turn key; empty: all
}

// rank orders the levels; 0 means unknown.
func rank(level string) int {
	for i, name := range []string{"debug", "info", "warn", "error"} {
		if strings.HasPrefix(level, name) { // slog writes info+1
			return i + 1
		}
	}
	return 0
}

func (f filter) wants(l line) bool {
	switch {
	case l.text != "": // an unreadable line belongs to no repository or turn
		return f.repo == "" && f.turn == "" && f.least == "debug"
	case rank(l.level) < rank(f.least), l.at.Before(f.since):
		return false
	case f.turn != "":
		return l.turn == f.turn
	case f.repo != "":
		return strings.EqualFold(l.repo, f.repo) && (l.number == f.number || l.pull == f.number)
	}
	return true
}

func (f filter) about() string {
	if f.item == "" {
		return ""
	}
	return " about " + f.item
}

// parseSince parses how far back to look.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" || text == "all" {
		return time.Time{}, nil
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(text, "d")); err == nil && strings.HasSuffix(text, "d") && n >= 0 {
		return now.AddDate(0, 0, -n), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, &cli.UsageError{Err: fmt.Errorf("--since %q: want how long ago, as 90m or 7d, a time, as 2026-01-31 or \"2026-01-31 15:04\", or all", text)}
}
