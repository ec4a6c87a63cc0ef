package config

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// FlowLabel is a label that starts work, and its flow.
type FlowLabel struct {
	Name string
	Flow work.Flow
}

// FlowLabels returns the labels that start work on an issue, in order of precedence.
func (r Repo) FlowLabels() []FlowLabel {
	return []FlowLabel{
		{r.Labels.Bugfix, work.FlowBugfix},
		{r.Labels.SmallJob, work.FlowSmallJob},
		{r.Labels.Design, work.FlowDesign},
	}
}

// FlowOf returns the flow that an issue's labels select, even if people have paused it.
func (r Repo) FlowOf(labels []string) (FlowLabel, bool) {
	for _, l := range r.FlowLabels() {
		if work.HasLabel(labels, l.Name) {
			return l, true
		}
	}
	return FlowLabel{}, false
}

// ReviewLabel returns the label that requests reviews of somebody else's pull request; empty if
// reviews are off.
func (r Repo) ReviewLabel() string {
	if r.ReviewPolicy(work.FlowReview).Off() {
		return ""
	}
	return r.Labels.Review
}

// StartLabels returns all labels that start work. When one is new in the config, passes search once
// for the issues and pull requests that already have it.
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
