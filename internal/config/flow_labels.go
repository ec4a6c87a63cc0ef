package config

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// FlowLabel is a label that begins work, and the flow that it begins.
type FlowLabel struct {
	Name string
	Flow work.Flow
}

// FlowLabels are the labels that begin work on an issue, in order of precedence.
func (r Repo) FlowLabels() []FlowLabel {
	return []FlowLabel{
		{r.Labels.Bugfix, work.FlowBugfix},
		{r.Labels.SmallJob, work.FlowSmallJob},
		{r.Labels.Design, work.FlowDesign},
	}
}

// FlowOf is the flow that an issue's labels ask for. Whether people have paused it is
// another question.
func (r Repo) FlowOf(labels []string) (FlowLabel, bool) {
	for _, l := range r.FlowLabels() {
		if work.HasLabel(labels, l.Name) {
			return l, true
		}
	}
	return FlowLabel{}, false
}

// ReviewLabel is the label that asks for reviews of somebody else's pull request; empty
// if reviews are off.
func (r Repo) ReviewLabel() string {
	if r.ReviewPolicy(work.FlowReview).Off() {
		return ""
	}
	return r.Labels.Review
}

// StartLabels are all labels that begin work. When one is new in the config, the issues and
// pull requests that carry it already are looked for once.
func (r Repo) StartLabels() []string {
	var names []string
	for _, l := range r.FlowLabels() {
		names = append(names, l.Name)
	}
	if name := r.ReviewLabel(); name != "" && !slices.Contains(names, name) {
		names = append(names, name)
	}
	return names
}
