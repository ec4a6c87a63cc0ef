package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// PrintLog prints what happened about the reviews of the item's pull request, the
// oldest first.
func (s Story) PrintLog(out terminal.Output) error {
	if len(s.log) == 0 && out.TTY {
		_, err := fmt.Fprintln(out.W, "nothing has happened about reviews of "+s.ref())
		return err
	}
	var rows [][]string
	for _, e := range s.log {
		rows = append(rows, []string{out.When(e.At, s.Now), e.What, fmt.Sprintf("#%d", e.Number), details(e.Data), e.Key})
	}
	return out.Table([]string{"WHEN", "WHAT", "PR", "DETAILS", "KEY"}, rows)
}

// details are the data of a line of the log, for people.
func details(data string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(data)))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return ""
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if text := detail(all[key]); text != "" {
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
