package batch

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// NewItem is an issue's work item before anything happened.
func NewItem(h *Batch, is github.Issue, label FlowLabel) work.Item {
	return work.Item{
		RepoID: h.Repo.ID, Number: is.Number, Flow: label.Flow, State: work.StatePending, Since: h.Now(),
		Label: label.Name, Priority: priority(is.Labels),
	}
}

// priority reads the label priority:N, 1 to 5.
func priority(labels []string) int {
	for _, l := range labels {
		if n, ok := priorityOf(l); ok {
			return n
		}
	}
	return work.DefaultPriority
}

func priorityOf(label string) (int, bool) {
	var n int
	if _, err := fmt.Sscanf(label, "priority:%d", &n); err != nil || label != fmt.Sprintf("priority:%d", n) {
		return 0, false
	}
	return n, n >= 1 && n <= 5
}
