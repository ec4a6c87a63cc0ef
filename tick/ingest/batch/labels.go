package batch

import (
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
