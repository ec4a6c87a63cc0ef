package pulls

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// Listed is what lists show of pull requests and issues.
type Listed struct {
	Numbers map[int]bool
	Newest  time.Time // change of a pull request
	Any     bool      // there may be more
}

// Shared is the sweep of one of many repositories.
type Shared struct{ *Pulls }

// Sweep asks what changed in the open tracked pull requests of one of many
// repositories: in those that its lists show, that changed lately or whose turn it is,
// together with those of the others.
func (h Shared) Sweep(ctx context.Context, listed Listed) error {
	if !h.Look.Shown.Viewer { // the pulse did not say who we are
		if err := h.whoAreWe(ctx); err != nil {
			return err
		}
	}
	ids := h.choose(listed)
	a := h.Look.Ask(ctx, h.Repo.Current, ids)
	for _, light := range a.Lights {
		h.Lights[light.Number] = light.Fingerprint
	}
	for _, id := range a.Missing {
		h.defers(id, errors.New("GitHub does not know this pull request any more"))
	}
	for id, err := range a.Failed {
		h.defers(id, err)
	}
	if a.Err == nil || len(h.Lights) > 0 && batch.OutOfTime(a.Err) {
		if a.Err != nil {
			h.StopReading(a.Err)
		}
		return nil
	}
	return a.Err
}

// choose gives the node ids of the pull requests that are asked about, and lets the others
// rest: nothing that people wrote is judged without a look at its pull request.
func (h Shared) choose(listed Listed) []string {
	all, now := listed.Any || h.unlisted(listed), h.Now()
	h.Rested = map[int]bool{}
	var ids []string
	for _, n := range batch.SortedKeys(h.Open.Light) {
		pull := h.Open.Light[n]
		switch {
		case pull.NotBefore.After(now):
		case all || listed.Numbers[n] || h.Look.Asks(h.R.Row, pull, now):
			ids = append(ids, pull.NodeID)
		default:
			h.Rested[n] = true
		}
	}
	return ids
}

// unlisted reports whether the pulse shows a change of a pull request that no list shows
// yet: it may be any of them.
func (h Shared) unlisted(listed Listed) bool {
	s := h.Look.Shown
	return s.Known && !s.Pulls.Equal(h.R.Row.Pulse.Pulls) && listed.Newest.Before(s.Pulls)
}
