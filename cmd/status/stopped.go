package status

import (
	"fmt"
	"io"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// StoppedView is that nothing is merged in a repository until a person says so, as JSON.
type StoppedView struct {
	Since  *time.Time `json:"since"`
	Reason string     `json:"reason"`
	Code   string     `json:"reason_code"`
	Resume string     `json:"resume"` // what is typed to end it
}

// ViewStopped is a stop of merging as JSON; null: there is none.
func ViewStopped(h *merging.Halt, repo string) *StoppedView {
	if h == nil {
		return nil
	}
	why := terminal.OneLine(explain.What(h.Why, explain.Place{Repo: repo, Spending: true}))
	return &StoppedView{Since: stamp(h.At), Reason: why, Code: string(h.Why.Kind), Resume: "gh mergexo resume-merging " + repo}
}

// printStopped says loudly of which repositories nothing is merged any more, and what
// ends that.
func (b Board) printStopped(out terminal.Output, notes io.Writer) {
	for _, r := range b.repos {
		if v := ViewStopped(r.stopped, r.called); v != nil {
			said := fmt.Sprintf("%s: MERGING IS STOPPED since %s: %s. Look at what landed, then: %s", r.called, work.Stamp(r.stopped.At), v.Reason, v.Resume)
			fmt.Fprintln(notes, out.LocalTimes(said))
		}
	}
}
