package status

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

// printLog prints the log of the reviews of the item's pull request, oldest first.
func (s Story) printLog(out terminal.Output) error {
	if len(s.log) == 0 && out.TTY {
		_, err := fmt.Fprintln(out.W, "nothing has happened about reviews of "+s.Item.ref())
		return err
	}
	return out.Table([]string{"WHEN", "PR", "WHAT", "DETAILS"}, terminal.Each(s.log, func(l store.ReviewLog) []string {
		return []string{out.When(l.At, s.Item.now), fmt.Sprintf("#%d", l.Number), l.What, details(l.Data)}
	}))
}

// first are the log fields to show first, in this order.
var first = []string{"reviewer", "from", "to", "decision", "outcome", "findings", "severity", "escalate", "escalations", "cycle", "head", "commit"}

// details formats the data of a log line for people.
func details(data string) string {
	d := json.NewDecoder(strings.NewReader(data))
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
