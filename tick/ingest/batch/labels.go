package batch

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// FlowLabel is a label that begins work, and the flow that it begins.
type FlowLabel struct {
	Name string
	Flow work.Flow
}

// FlowLabels are the labels that start something, in order of precedence.
func FlowLabels(r config.Repo) []FlowLabel {
	return []FlowLabel{
		{r.Labels.Bugfix, work.FlowBugfix},
		{r.Labels.SmallJob, work.FlowSmallJob},
		{r.Labels.Design, work.FlowDesign},
	}
}

// ReviewLabel is the label that asks for reviews of somebody else's pull request; empty
// where nobody reviews one. No issue begins by it.
func ReviewLabel(r config.Repo) string {
	if r.ReviewPolicy(work.FlowReview).Off() {
		return ""
	}
	return r.Labels.Review
}

// Sighted are the labels whose issues and pull requests are looked for once: those that
// carry one already when it is new in the config.
func Sighted(r config.Repo) []string {
	var names []string
	for _, l := range FlowLabels(r) {
		names = append(names, l.Name)
	}
	if name := ReviewLabel(r); name != "" && !slices.Contains(names, name) {
		names = append(names, name)
	}
	return names
}

// FlowOf is the flow that an issue's labels ask for. Whether people have paused
// it is another question.
func FlowOf(r config.Repo, labels []string) (FlowLabel, bool) {
	for _, l := range FlowLabels(r) {
		if work.HasLabel(labels, l.Name) {
			return l, true
		}
	}
	return FlowLabel{}, false
}
