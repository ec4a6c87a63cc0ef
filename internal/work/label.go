package work

import (
	"slices"
	"strings"
)

// Label is a label of a repository.
type Label struct {
	Name        string // without commas and line breaks
	Color       string // six hex digits
	Description string // one line
}

// Labelling is the labels that an issue or pull request must have, and those it must not have.
// Other labels are left alone.
type Labelling struct {
	With    []Label // those that the repository lacks are created
	Without []string
}

// Action plans a labelling for a purpose. There is one row for each purpose, renewed when the
// labelling changes (store.RenewAction). The action is cosmetic.
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

// LabellingOf returns the labelling of an action.
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

// Clean reports whether none of the labels must be removed.
func (l Labelling) Clean(labels []string) bool {
	return !slices.ContainsFunc(l.Without, func(name string) bool { return HasLabel(labels, name) })
}

// HasLabel ignores case, as GitHub does.
func HasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

// RepoLabels are the labels that people set, as gh mergexo creates missing ones.
func RepoLabels(l Labels) []Label {
	return []Label{
		{Name: l.Bugfix, Color: "d876e3", Description: "gh mergexo fixes this bug"},
		{Name: l.SmallJob, Color: "5319e7", Description: "gh mergexo does this small job"},
		{Name: l.Design, Color: "1d76db", Description: "gh mergexo writes a design document for this issue"},
		{Name: l.Roadmap, Color: "006b75", Description: "gh mergexo plans this issue as sub-issues"},
		IgnoreLabel(l.Ignore),
	}
}

// ReviewLabels are the labels that people set in repositories with reviews.
func ReviewLabels(l Labels) []Label {
	return []Label{
		{Name: l.Review, Color: "0e8a16", Description: "gh mergexo reviews this pull request, and never pushes to it"},
		HoldLabel(l.Hold),
	}
}

// StatusLabels show an item's state: working, waiting for people, or done.
func StatusLabels(l Labels) []Label {
	return []Label{
		{Name: l.Working, Color: "fbca04", Description: "gh mergexo works on it"},
		{Name: l.Blocked, Color: "d93f0b", Description: "gh mergexo waits for a person; its comment says why"},
		{Name: l.Done, Color: "0e8a16", Description: "gh mergexo has done its part, and it is merged"},
	}
}

// HoldLabel is the label that holds reviews.
func HoldLabel(name string) Label {
	return Label{Name: name, Color: "cfd3d7", Description: "gh mergexo neither reviews nor merges this until the label is gone"}
}

// HumanReviewLabel is the label of pull requests that only people review.
func HumanReviewLabel(name string) Label {
	return Label{Name: name, Color: "d93f0b", Description: "gh mergexo leaves the review to people"}
}

// FreezeLabel is the label of an issue that stops all merges while it is open.
func FreezeLabel(name string) Label {
	return Label{Name: name, Color: "b60205", Description: "gh mergexo merges nothing while an issue with this label is open"}
}

// IgnoreLabel is the label that pauses work.
func IgnoreLabel(name string) Label {
	return Label{Name: name, Color: "cfd3d7", Description: "gh mergexo leaves this to people"}
}
