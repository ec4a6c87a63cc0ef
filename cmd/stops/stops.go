// Package stops shows as JSON what is stopped until a person resumes it: everything on this
// machine, or merging into a repository.
package stops

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// HaltView is a pause of everything on this machine, as JSON.
type HaltView struct {
	Since  *time.Time `json:"since"`  // null: not known
	Reason string     `json:"reason"` // the text after `pause --all`
}

// ViewHalt returns a pause as JSON; null: there is none.
func ViewHalt(h *folder.Halt) *HaltView {
	if h == nil {
		return nil
	}
	return &HaltView{terminal.Stamp(h.Since), h.Why}
}

// StoppedView is a repository's merge stop as JSON.
type StoppedView struct {
	Since  *time.Time `json:"since"`      // since when
	Reason string     `json:"reason"`     // why, for people; empty: there is no reason to give
	Code   string     `json:"reasonCode"` // the same for programs: one of [reasons](../troubleshooting.md#reasons)
	Resume string     `json:"resume"`     // the command that ends it
}

// ViewStopped returns a merge stop as JSON; null: there is none.
func ViewStopped(h *merging.Halt, repo string) *StoppedView {
	if h == nil {
		return nil
	}
	why := terminal.OneLine(explain.What(h.Why, explain.Place{Repo: repo, Spending: true}))
	return &StoppedView{Since: terminal.Stamp(h.At), Reason: why, Code: string(h.Why.Kind), Resume: "gh mergexo resume-merging " + repo}
}
