package status

import (
	"fmt"
	"io"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// printUntold reports notifications that did not arrive, which GitHub does not show.
func (b Board) printUntold(notes io.Writer) {
	for _, t := range b.untold {
		fmt.Fprintf(notes, "%s to %s did not arrive; the last: %s (gh mergexo notify list)\n", work.Count(t.Count, "message"), t.Target, terminal.OneLine(t.LastError))
	}
}
