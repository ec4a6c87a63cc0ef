package tick

import (
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
)

// longestLag is how long a timeline may say something else than the list that was
// read before it. A label that was renamed makes the two differ for good.
const longestLag = 10 * time.Minute

// noteLag has an issue read once more whose timeline does not show yet what the
// list shows: the list's ETag would vouch for a label that was never seen.
func (h *harvest) noteLag(is github.Issue, timeline []github.TimelineEvent) {
	if h.now().Sub(is.UpdatedAt) < longestLag && h.lags(is, timeline) {
		h.backlog[is.Number] = true
	}
}

// lags reports whether what a timeline tells does not lead to what the list shows:
// of our labels, and of whether the issue is open.
func (h *harvest) lags(is github.Issue, timeline []github.TimelineEvent) bool {
	for _, l := range flowLabels(h.r.Settings) {
		on := false
		for _, t := range timeline {
			if strings.EqualFold(t.Label, l.name) {
				on = t.Event == "labeled" || on && t.Event != "unlabeled"
			}
		}
		if !on && hasLabel(is.Labels, l.name) {
			return true
		}
	}
	closed := false
	for _, t := range timeline {
		closed = t.Event == "closed" || closed && t.Event != "reopened"
	}
	return closed != (is.State != "open")
}
