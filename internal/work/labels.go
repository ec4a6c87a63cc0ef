package work

import (
	"slices"
	"strings"
)

// VerbOf is the command that begins a flow.
func VerbOf(flow Flow) Verb {
	switch flow {
	case FlowBugfix:
		return VerbBugfix
	case FlowSmallJob:
		return VerbSmallJob
	case FlowDesign, FlowImplementation:
	}
	return VerbDesign
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

// IgnoreLabel is the label that pauses work, as it is made.
func IgnoreLabel(name string) Label {
	return Label{Name: name, Color: "cfd3d7", Description: "gh mergexo leaves this to people"}
}
