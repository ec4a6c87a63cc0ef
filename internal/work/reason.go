package work

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// ReasonKind is why a work item is blocked or waits. It is stored, compared, and the reasonCode of
// `status --json`. A released kind never changes, unless another one takes its place (joined).
type ReasonKind string

// joined are kinds that earlier programs stored, by the kind that took their place.
var joined = map[ReasonKind]ReasonKind{
	"earlier_pull_request": WhyPullInTheWay, "foreign_pull_request": WhyPullInTheWay, "repository_empty": WhyBaseGone,
	"sign_off_unknown": WhyAuthorUnknown, "issue_not_found": WhyNotFound, "comment_not_found": WhyNotFound, "agent_path_relative": WhyAgentMissing,
	"agent_not_started": WhyAgentMissing, "agent_outside_sandbox": WhyShutOut, "interpreter_outside_sandbox": WhyShutOut, "tests_outside_sandbox": WhyShutOut,
	"agent_too_old": WhyAgentBroken, "repository_gone": WhyRepoMissing, "github_unclear": WhyNoAnswer, "github_repository": WhyUnread, "github_pull_request": WhyUnread,
	"pushed": WhyToBeSent, "pull_request_opening": WhyPullCloses, "merge_news": WhyMergeNotRead,
}

// UnmarshalText reads a kind that is stored in the database or in a comment.
func (k *ReasonKind) UnmarshalText(text []byte) error {
	*k = ReasonKind(text)
	*k = cmp.Or(joined[*k], *k)
	return nil
}

// OfRoadmap reports whether a roadmap above an issue keeps the work on it from beginning.
func (k ReasonKind) OfRoadmap() bool {
	return k == WhyRoadmapHeld || k == WhyRoadmapChanges || k == WhyRoadmapStopped || k == WhyRoadmapParallel || k == WhyRoadmapCost
}

// OfDependency reports whether an item is stopped because an issue that it depends on will not be closed.
func (k ReasonKind) OfDependency() bool {
	return k == WhyDependsMany || k == WhyDependsMissing || k == WhyDependsHidden || k == WhyDependsDropped || k == WhyDependsCircle
}

// OfHead reports whether a pull request waits for something about its head, which a push ends.
func (k ReasonKind) OfHead() bool {
	switch k { //nolint:exhaustive // the others outlast a push
	case WhyReviewChecks, WhyReviewNoCI, WhyMergeConflicts, WhyMergeUnknown, WhyMergeBehind, WhyMergeChecksRed, WhyMergeChecksMissing, WhyMergeNoCI, WhyMergeChecksRun,
		WhyMergeReviews, WhyMergeReviewRequired, WhyMergePerson, WhyMergeNotReviewed, WhyMergeLastPush, WhyMergeBlocked:
		return true
	}
	return false
}

// AfterError reports whether a turn waits after an error that a person may have mended.
func (k ReasonKind) AfterError() bool {
	return k == WhyTriedAgain || k == WhyNoConnection || k == WhyMachineFault
}

// StopsRoadmap reports whether it is a merged roadmap that is stopped, and not the work on its issue.
func (k ReasonKind) StopsRoadmap() bool { return k == WhyRoadmapFaults || k == WhyRoadmapRefused }

// Reason is why something is blocked or waits, as data. Only internal/work/explain makes text of
// it; no text is parsed back. Fields that a kind does not use are zero.
type Reason struct {
	Kind   ReasonKind `json:"kind"`
	Text   string     `json:"text,omitempty"`   // in the words of an agent, a program, git, GitHub or a person
	Local  string     `json:"local,omitempty"`  // details that may name this machine's folders: never sent to GitHub
	Advice string     `json:"advice,omitempty"` // what to do about it, where only what failed knows
	Who    string     `json:"who,omitempty"`    // an agent by its name in the config, or a login
	Name   string     `json:"name,omitempty"`   // a program, a key of the config, a model, a repository or a reference
	Branch string     `json:"branch,omitempty"`
	Commit string     `json:"commit,omitempty"`
	Head   string     `json:"head,omitempty"` // of the branch now; it moves while the reason stays
	Number int        `json:"number,omitempty"`
	Count  int        `json:"count,omitempty"`
	Begun  int        `json:"begun,omitempty"` // item_budget: turns of the item; Used, for a budget of turns, counts the attempts in them
	Names  []string   `json:"names,omitempty"`
	Used   float64    `json:"used,omitempty"` // of a budget: turns, US dollars or tokens
	Limit  float64    `json:"limit,omitempty"`
	At     int64      `json:"at,omitempty"` // unix milliseconds
}

// None reports whether there is no reason: nothing is blocked or waits.
func (r Reason) None() bool { return r.Kind == "" }

// Same reports whether two reasons are the same stop. Fields that change while a stop lasts are
// ignored.
func (r Reason) Same(o Reason) bool { return r.identity() == o.identity() }

// identity returns the fields of a reason that do not change while it lasts, as one text.
func (r Reason) identity() string {
	parts := append([]string{string(r.Kind), r.Text, r.Who, r.Name, r.Branch, r.Commit, strconv.Itoa(r.Number)}, r.Names...)
	for i, part := range parts { // quoted, because an agent's text may contain any separator
		parts[i] = strconv.Quote(string([]rune(part))) // as JSON stores it
	}
	return strings.Join(parts, " ")
}

// Equal compares all fields.
func (r Reason) Equal(o Reason) bool {
	return r.identity() == o.identity() && slices.Equal(r.Names, o.Names) && r.Local == o.Local && r.Advice == o.Advice && r.Head == o.Head &&
		r.Count == o.Count && r.Begun == o.Begun && r.Used == o.Used && r.Limit == o.Limit && r.At == o.At
}

// Map applies f to the free texts, to remove secrets or characters that must not be stored.
func (r Reason) Map(f func(string) string) Reason {
	r.Text, r.Local, r.Advice, r.Who, r.Name = f(r.Text), f(r.Local), f(r.Advice), f(r.Who), f(r.Name)
	r.Names = slices.Clone(r.Names)
	for i, n := range r.Names {
		r.Names[i] = f(n)
	}
	return r
}

// String is for logs and errors. People read the text of internal/work/explain.
func (r Reason) String() string {
	what := strings.ReplaceAll(string(r.Kind), "_", " ")
	parts := append([]string{r.Who, r.Name, r.Branch}, r.Names...)
	if r.Number != 0 {
		parts = append(parts, "#"+strconv.Itoa(r.Number))
	}
	parts = slices.DeleteFunc(append(parts, r.Text, r.Local), func(s string) bool { return s == "" })
	return strings.TrimSuffix(what+": "+strings.Join(parts, "; "), ": ")
}

// Or returns the reason, or other if there is none.
func (r Reason) Or(other Reason) Reason {
	if r.None() {
		return other
	}
	return r
}
