package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// maxLabel is GitHub's limit for a label's name, in characters.
const maxLabel = 50

// labelsOf returns the labels with a prefix.
func labelsOf(prefix string) work.Labels {
	return work.Labels{
		Design: prefix + "design", Bugfix: prefix + "bugfix", SmallJob: prefix + "small-job", Roadmap: prefix + "roadmap",
		Ignore: prefix + "ignore", Review: prefix + "review", Hold: prefix + "hold", Freeze: prefix + "freeze",
		Working: prefix + "working", Blocked: prefix + "blocked", Done: prefix + "done", HumanReview: prefix + "human-review",
	}
}

// labelProblem says why a repository can have no label of a name; empty: it can.
func labelProblem(s string) string {
	switch {
	case s != strings.TrimSpace(s):
		return "begins or ends with a space"
	case utf8.RuneCountInString(s) > maxLabel:
		return "is longer than GitHub's limit of " + strconv.Itoa(maxLabel) + " characters"
	case strings.ContainsRune(s, ',') || strings.ContainsFunc(s, unicode.IsControl):
		return "holds a comma or a control character, which no search for labels can name"
	}
	return ""
}

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
		{r.Labels.Roadmap, work.FlowRoadmap},
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
