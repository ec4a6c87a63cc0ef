package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// sweepsAtOnce is how many light queries run at once for one repository.
const sweepsAtOnce = 4

// sweep is one light query of a pass. Unless a pull request was opened or ended, the next pass
// sends the same one; so the seal of the answer is stored under its name.
type sweep struct {
	name  string // "" if no seal is stored
	pulls []github.PullLight
}

// sweepOpen asks which open tracked pull requests changed, and for our account. That decides what
// is ours, so nothing is judged without it.
func (h *reading) sweepOpen(ctx context.Context) error {
	open := make([]github.PullLight, 0, len(h.openPulls.light))
	now := h.now()
	for _, n := range sortedKeys(h.openPulls.light) {
		if pull := h.openPulls.light[n]; !pull.NotBefore.After(now) {
			open = append(open, asStored(pull))
		}
	}
	if len(open) == 0 {
		return h.readOurAccount(ctx)
	}
	var sweeps []sweep
	for part := range slices.Chunk(open, github.MaxSweep) {
		sweeps = append(sweeps, sweep{fmt.Sprintf("sweep %d", len(sweeps)), part})
	}
	// Rotate which ones go last: those may be too late.
	first := int(now.Unix() % int64(len(sweeps)))
	sweeps = slices.Concat(sweeps[first:], sweeps[:first])
	asks := make([]func(context.Context) error, len(sweeps))
	for i, s := range sweeps {
		asks[i] = func(ctx context.Context) error { return s.ask(ctx, h) }
	}
	errs := github.AtOnce(ctx, sweepsAtOnce, asks)
	err := github.FirstError(errs)
	if len(h.lights) == 0 || slices.ContainsFunc(errs, func(err error) bool { return err != nil && !github.OutOfTime(err) }) {
		return err
	}
	if err != nil {
		h.stopReading(err)
	}
	return nil
}

// asStored is the light query's result when the pull request was last ingested.
func asStored(p store.OpenPull) github.PullLight {
	return github.PullLight{NodeID: p.NodeID, Number: p.Number, Fingerprint: p.Fingerprint}
}

// halve splits a failed batch in two, so that one pull request that GitHub cannot answer for does
// not hide the others. A single one is deferred.
func (h *reading) halve(ctx context.Context, ids []string, err error, read func(context.Context, []string) error) error {
	switch half := len(ids) / 2; {
	case !github.IsItemError(err):
		return err
	case half == 0:
		h.defers(ids[0], err)
		return nil
	default:
		return errors.Join(read(ctx, ids[:half]), read(ctx, ids[half:]))
	}
}

// sweepBatch sends a light query about pull requests by node id.
func (h *reading) sweepBatch(ctx context.Context, ids []string) error {
	s := sweep{}
	for _, id := range ids {
		s.pulls = append(s.pulls, github.PullLight{NodeID: id})
	}
	return s.ask(ctx, h)
}

// ask sends the light query and ingests the answer.
func (q sweep) ask(ctx context.Context, h *reading) error {
	sealed := h.known.pages[q.name].ETag
	s, err := h.repo.GitHub.SweepAgain(ctx, h.row.Current, q.pulls, sealed)
	if err != nil {
		return h.halve(ctx, idsOf(q.pulls), err, h.sweepBatch)
	}
	if err := h.env.AcceptAccount(ctx, h.repo.Name.Host, s.Viewer); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.compareIdentity(s.Repo)
	for _, light := range s.Pulls {
		h.lights[light.Number] = light.Fingerprint
	}
	for _, id := range s.Missing {
		h.deferPull(id, errors.New("GitHub does not know this pull request any more"))
	}
	if q.name != "" && s.Seal != "" && s.Seal != sealed {
		h.validators = append(h.validators, work.Validator{RepoID: h.row.ID, URL: q.name, ETag: s.Seal, SeenAt: h.now()})
	}
	return nil
}

func idsOf(pulls []github.PullLight) []string {
	ids := make([]string, len(pulls))
	for i, p := range pulls {
		ids[i] = p.NodeID
	}
	return ids
}

// listedChanges is what the lists show of issues and pull requests.
type listedChanges struct {
	numbers map[int]bool
	newest  time.Time // newest change of a pull request
	any     bool      // there may be more
}

// sweepShared asks which open tracked pull requests of one of many repositories changed. It asks
// about those that the lists show, that changed recently or whose turn it is, together with those
// of the other repositories.
func (h *reading) sweepShared(ctx context.Context, listed listedChanges) error {
	if !h.look.Shown.Viewer { // the pulse query did not return our account
		if err := h.readOurAccount(ctx); err != nil {
			return err
		}
	}
	ids := h.chooseSweep(listed)
	a := h.look.ask(ctx, h.row.Current, ids)
	for _, light := range a.Lights {
		h.lights[light.Number] = light.Fingerprint
	}
	for _, id := range a.Missing {
		h.defers(id, errors.New("GitHub does not know this pull request any more"))
	}
	for id, err := range a.Failed {
		h.defers(id, err)
	}
	if a.Err == nil || len(h.lights) > 0 && github.OutOfTime(a.Err) {
		if a.Err != nil {
			h.stopReading(a.Err)
		}
		return nil
	}
	return a.Err
}

// chooseSweep returns the node ids of the pull requests to ask about, and lets the others rest. No
// comment is judged without a look at its pull request.
func (h *reading) chooseSweep(listed listedChanges) []string {
	all, now := listed.any || h.unlisted(listed), h.now()
	h.rested = map[int]bool{}
	var ids []string
	for _, n := range sortedKeys(h.openPulls.light) {
		pull := h.openPulls.light[n]
		switch {
		case pull.NotBefore.After(now):
		case all || listed.numbers[n] || h.look.IncludesPull(h.repo.Row, pull, now):
			ids = append(ids, pull.NodeID)
		default:
			h.rested[n] = true
		}
	}
	return ids
}

// unlisted reports whether the pulse shows a change of a pull request that no list shows yet: it
// may be any of them.
func (h *reading) unlisted(listed listedChanges) bool {
	s := h.look.Shown
	return s.Known && !s.Pulls.Equal(h.repo.Row.Pulse.Pulls) && listed.newest.Before(s.Pulls)
}
