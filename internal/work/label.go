package work

import (
	"slices"
	"strings"
)

// Label is a label of a repository.
type Label struct {
	Name        string // without comma and line end
	Color       string // six hex digits
	Description string // one line
}

// Labelling says which labels an issue or pull request is to have and which it
// is not to have. Any other label is none of its business.
type Labelling struct {
	With    []Label // what is not in the repository yet is made there
	Without []string
}

// Action plans a labelling for a purpose: one row, renewed when what is wanted
// changes (store.RenewAction). It is cosmetic.
func (l Labelling) Action(repo Repo, item int64, number int, purpose string) Action {
	var names, lines []string
	for _, w := range l.With {
		names = append(names, w.Name)
		lines = append(lines, w.Name+","+w.Color+","+w.Description)
	}
	return Action{
		RepoID: repo.ID, ItemID: item, Kind: ActionLabels, Need: NeedCosmetic, Token: LabelsToken(repo.Key(), number, purpose),
		State: ActionPlanned, Number: number, Target: strings.Join(names, ","), Base: strings.Join(l.Without, ","),
		Body: strings.Join(lines, "\n"), Why: purpose,
	}
}

// LabellingOf reads the labelling that an action plans.
func LabellingOf(a Action) Labelling {
	var l Labelling
	for line := range strings.SplitSeq(a.Body, "\n") {
		name, rest, _ := strings.Cut(line, ",")
		color, description, _ := strings.Cut(rest, ",")
		if name != "" {
			l.With = append(l.With, Label{Name: name, Color: color, Description: description})
		}
	}
	if a.Base != "" {
		l.Without = strings.Split(a.Base, ",")
	}
	return l
}

// HasLabel compares as GitHub does: without regard to case.
func HasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

// RepoLabels are the labels that people set, as they are made where they are
// missing.
func RepoLabels(l Labels) []Label {
	return []Label{
		{Name: l.Bugfix, Color: "d876e3", Description: "gh mergexo fixes this bug"},
		{Name: l.SmallJob, Color: "5319e7", Description: "gh mergexo does this small job"},
		{Name: l.Design, Color: "1d76db", Description: "gh mergexo writes a design document for this issue"},
		IgnoreLabel(l.Ignore),
	}
}

// ReviewLabels are those that people set where pull requests are reviewed.
func ReviewLabels(l Labels) []Label {
	return []Label{
		{Name: l.Review, Color: "0e8a16", Description: "gh mergexo reviews this pull request, and never pushes to it"},
		HoldLabel(l.Hold),
	}
}

// StatusLabels show a state: that it runs, that it stands still, that it is over.
func StatusLabels(l Labels) []Label {
	return []Label{
		{Name: l.Working, Color: "fbca04", Description: "gh mergexo works on it"},
		{Name: l.Blocked, Color: "d93f0b", Description: "gh mergexo waits for a person; its comment says why"},
		{Name: l.Done, Color: "0e8a16", Description: "gh mergexo has done its part, and it is merged"},
	}
}

// HoldLabel is the label that holds reviews back, as it is made.
func HoldLabel(name string) Label {
	return Label{Name: name, Color: "cfd3d7", Description: "gh mergexo reviews nothing here until the label is gone"}
}

// HumanReviewLabel is the label of what only people review from then on, as it is made.
func HumanReviewLabel(name string) Label {
	return Label{Name: name, Color: "d93f0b", Description: "gh mergexo leaves the review to people"}
}

// FreezeLabel is the label of an issue that keeps everything from being merged, as it is
// made.
func FreezeLabel(name string) Label {
	return Label{Name: name, Color: "b60205", Description: "gh mergexo merges nothing while an issue with this label is open"}
}

// IgnoreLabel is the label that pauses work, as it is made.
func IgnoreLabel(name string) Label {
	return Label{Name: name, Color: "cfd3d7", Description: "gh mergexo leaves this to people"}
}
