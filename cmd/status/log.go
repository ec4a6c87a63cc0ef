package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

// Log is one entry of the log of reviews.
type Log struct {
	At     terminal.Time   `json:"at"`     // time of the event
	What   string          `json:"what"`   // what happened
	Number int             `json:"number"` // of the pull request
	Key    string          `json:"key"`    // key of its subject
	Data   json.RawMessage `json:"data"`   // details, which differ by `what`
}

func logOf(e store.ReviewLog) Log {
	l := Log{At: terminal.Stamp(e.At), What: e.What, Number: e.Number, Key: e.Key, Data: json.RawMessage(e.Data)}
	if !json.Valid(l.Data) {
		l.Data = json.RawMessage("null")
	}
	return l
}

// printLog prints the log of the reviews of the item's pull request, oldest first.
func (s Story) printLog(out terminal.Output) error {
	if len(s.Log) == 0 && out.TTY {
		_, err := fmt.Fprintln(out.W, "nothing has happened about reviews of "+s.Item.ref())
		return err
	}
	return out.Table([]string{"WHEN", "PR", "WHAT", "DETAILS"}, terminal.Each(s.Log, func(l Log) []string {
		return []string{out.When(l.At.Time, s.Item.now), fmt.Sprintf("#%d", l.Number), l.What, details(l.Data)}
	}))
}

// first are the log fields to show first, in this order.
var first = []string{"reviewer", "from", "to", "decision", "outcome", "findings", "severity", "escalate", "escalations", "cycle", "head", "commit"}

// details formats the data of a log line for people.
func details(data json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return ""
	}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool { return slices.Contains(first, key) })
	var parts []string
	for _, key := range slices.Concat(first, rest) {
		text := detail(all[key])
		if key == "head" || key == "commit" {
			text = short(text)
		}
		if text != "" {
			parts = append(parts, strings.ReplaceAll(key, "_", " ")+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

func detail(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		return strings.Join(terminal.Each(v, detail), " ")
	}
	return fmt.Sprint(v)
}
