package status

import (
	"fmt"
	"io"

	"github.com/mergexo/gh-mergexo/cmd/stops"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// printStopped lists the repositories in which merging is stopped, and how to resume it.
func (b Board) printStopped(out terminal.Output, notes io.Writer) {
	for _, r := range b.repos {
		if v := stops.ViewStopped(r.stopped, r.called); v != nil {
			said := fmt.Sprintf("%s: MERGING IS STOPPED since %s: %s. Check what landed, then: %s", r.called, work.Stamp(r.stopped.At), v.Reason, v.Resume)
			fmt.Fprintln(notes, out.LocalTimes(said))
		}
	}
}
