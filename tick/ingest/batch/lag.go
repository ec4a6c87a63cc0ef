package batch

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// longestLag is how long a timeline may say something else than the list that was
// read before it. A label that was renamed makes the two differ for good.
const longestLag = 10 * time.Minute

// AgainSoon has something read once more whose timeline does not show yet the label that
// the list shows.
func (h *Batch) AgainSoon(is github.Issue) {
	if h.Now().Sub(is.UpdatedAt) < longestLag {
		h.Backlog[is.Number] = true
	}
}

// NoteLag has an issue read once more whose timeline does not show yet what the
// list shows: the list's ETag would vouch for a label that was never seen.
//
// A label that was taken off and set again looks as before, so an issue that may
// lag behind its list is read a second time as well, but not a third: when it
// changed after all that its timeline shows, and when its label begins nothing.
func (h *Batch) NoteLag(is github.Issue, timeline []github.TimelineEvent, idle bool) {
	again := slices.Contains(h.Known.Backlog, is.Number)
	may := idle || changedAfter(is, timeline)
	if h.Now().Sub(is.UpdatedAt) < longestLag && (lags(h.R.Settings, is, timeline) || may && !again) {
		h.Backlog[is.Number] = true
	}
}

// within is how long after a change another one may still appear that has its stamp: they
// have whole seconds, and lists and timelines lag behind one another for some.
const within = 30 * time.Second

// Settled reports whether a timeline shows all that made an issue what its list shows, so
// that it need not be read again before the issue changes. It does once the newest stamp is
// old; sooner where it has an entry for that stamp, and it was read a while after it.
func Settled(is github.Issue, timeline []github.TimelineEvent, now time.Time) bool {
	age := now.Sub(is.UpdatedAt)
	return age > Overlap || age > within && !changedAfter(is, timeline)
}

// changedAfter reports whether an issue changed after the newest entry of its
// timeline: by an entry that is not shown yet, or by an edit, which makes none.
func changedAfter(is github.Issue, timeline []github.TimelineEvent) bool {
	return !slices.ContainsFunc(timeline, func(t github.TimelineEvent) bool { return !t.CreatedAt.Before(is.UpdatedAt) })
}

// lags reports whether what a timeline tells does not lead to what the list shows:
// of our labels, and of whether the issue is open.
func lags(settings config.Repo, is github.Issue, timeline []github.TimelineEvent) bool {
	for _, l := range FlowLabels(settings) {
		on := false
		for _, t := range timeline {
			if strings.EqualFold(t.Label, l.Name) {
				on = t.Event == "labeled" || on && t.Event != "unlabeled"
			}
		}
		if !on && work.HasLabel(is.Labels, l.Name) {
			return true
		}
	}
	closed := false
	for _, t := range timeline {
		closed = t.Event == "closed" || closed && t.Event != "reopened"
	}
	return closed != (is.State != "open")
}
