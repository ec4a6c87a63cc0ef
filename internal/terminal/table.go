package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/tableprinter"
	"github.com/cli/go-gh/v2/pkg/text"
)

// between separates the columns of a table.
const between = "  "

// Table prints rows under headings. Nothing is cut: if the terminal is too narrow, the last column
// that fits is wrapped, and the columns after it appear below their row, each with its heading.
func (o Output) Table(headings []string, rows [][]string) error {
	if !o.TTY {
		return o.bareRows(rows)
	}
	headings, rows = withoutEmpty(headings, clean(rows))
	widths := naturalWidths(headings, rows)
	beside, last := o.columnsBeside(rows, widths)
	var b strings.Builder
	b.WriteString(o.Dim(strings.TrimRight(joined(headings[:beside], widths), " ")) + "\n")
	for _, row := range rows {
		begin := joined(row[:beside-1], widths)
		for i, line := range Wrap(row[beside-1], last) {
			if i > 0 {
				begin = strings.Repeat(" ", text.DisplayWidth(begin))
			}
			b.WriteString(strings.TrimRight(begin+line, " ") + "\n")
		}
		for i := beside; i < len(row); i++ {
			if row[i] != "" {
				b.WriteString(o.Labelled("    ", headings[i], row[i]))
			}
		}
	}
	_, err := fmt.Fprint(o.W, b.String())
	return err
}

// List prints one line per row. If the terminal is too narrow, it cuts the last column and marks
// the cut.
func (o Output) List(headings []string, rows [][]string) error {
	if !o.TTY {
		return o.bareRows(rows)
	}
	rows = clean(rows)
	widths := naturalWidths(headings, rows)
	last := len(headings) - 1
	room := max(o.Width-text.DisplayWidth(joined(headings[:last], widths)), len(headings[last]))
	var b strings.Builder
	b.WriteString(o.Dim(strings.TrimRight(joined(headings, widths), " ")) + "\n")
	for _, row := range rows {
		b.WriteString(strings.TrimRight(joined(row[:last], widths)+cut(row[last], room), " ") + "\n")
	}
	_, err := fmt.Fprint(o.W, b.String())
	return err
}

// bareRows prints rows for programs.
func (o Output) bareRows(rows [][]string) error {
	t := tableprinter.New(o.W, false, o.Width)
	for _, row := range clean(rows) {
		for _, cell := range row {
			t.AddField(cell)
		}
		t.EndRow()
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("print table: %w", err)
	}
	return nil
}

// columnsBeside returns how many columns fit side by side, and the width of the last of them. A
// column is only wrapped if it stays wide enough for words.
func (o Output) columnsBeside(rows [][]string, widths []int) (beside, last int) {
	beside, last = 1, max(o.Width, 1)
	used := 0
	for i, w := range widths {
		room := o.Width - used
		if room < w && (room < leastWords || room < longestWord(rows, i)) {
			break
		}
		beside, last = i+1, room
		used += w + len(between)
	}
	return beside, last
}

func longestWord(rows [][]string, column int) int {
	longest := 0
	for _, row := range rows {
		for word := range strings.FieldsSeq(row[column]) {
			longest = max(longest, text.DisplayWidth(word))
		}
	}
	return longest
}

// withoutEmpty removes empty columns, except the first.
func withoutEmpty(headings []string, rows [][]string) ([]string, [][]string) {
	var kept []int
	for i := range headings {
		if i == 0 || slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" }) {
			kept = append(kept, i)
		}
	}
	pick := func(row []string) []string { return Each(kept, func(i int) string { return row[i] }) }
	return pick(headings), Each(rows, pick)
}

// clean makes every cell one line.
func clean(rows [][]string) [][]string {
	return Each(rows, func(row []string) []string { return Each(row, OneLine) })
}

func naturalWidths(headings []string, rows [][]string) []int {
	widths := Each(headings, text.DisplayWidth)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.DisplayWidth(cell))
		}
	}
	return widths
}

// joined pads cells to their columns.
func joined(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString(text.PadRight(widths[i], cell) + between)
	}
	return b.String()
}

// Labelled wraps a value after its label.
func (o Output) Labelled(indent, label, value string) string {
	begin := indent + label + between
	lines := Wrap(value, o.Width-text.DisplayWidth(begin))
	return indent + o.Dim(label) + between + strings.Join(lines, "\n"+strings.Repeat(" ", text.DisplayWidth(begin))) + "\n"
}

// cut shortens a text to a width and marks the cut.
func cut(s string, width int) string {
	if text.DisplayWidth(s) <= width {
		return s
	}
	kept := ""
	for _, r := range s {
		if text.DisplayWidth(kept+string(r)) > width-1 {
			break
		}
		kept += string(r)
	}
	return strings.TrimRight(kept, " ") + "…"
}
