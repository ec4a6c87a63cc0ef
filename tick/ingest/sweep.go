package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
)

// sweepsAtOnce is how many light queries run at once for one repository.
const sweepsAtOnce = 4

// sweepOpen asks which open tracked pull requests changed, and for our account. That decides what
// is ours, so nothing is judged without it.
func (h *reading) sweepOpen(ctx context.Context) error {
	var open []string
	now := h.now()
	for _, n := range sortedKeys(h.openPulls.light) {
		if pull := h.openPulls.light[n]; !pull.NotBefore.After(now) {
			open = append(open, pull.NodeID)
		}
	}
	if len(open) == 0 {
		return h.readOurAccount(ctx)
	}
	parts := slices.Collect(slices.Chunk(open, github.MaxSweep))
	// Rotate which ones go last: those may be too late.
	first := int(now.Unix() % int64(len(parts)))
	var asks []func(context.Context) error
	for _, ids := range slices.Concat(parts[first:], parts[:first]) {
		asks = append(asks, func(ctx context.Context) error { return h.sweepSome(ctx, ids) })
	}
	errs := runAtOnce(ctx, sweepsAtOnce, asks)
	err := github.FirstError(errs)
	if len(h.lights) == 0 || slices.ContainsFunc(errs, func(err error) bool { return err != nil && !github.OutOfTime(err) }) {
		return err
	}
	if err != nil {
		h.stopReading(err)
	}
	return nil
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

// sweepSome sends a light query about pull requests by node id, and ingests the answer.
func (h *reading) sweepSome(ctx context.Context, ids []string) error {
	s, err := h.repo.GitHub.Sweep(ctx, h.row.Current, ids)
	if err != nil {
		return h.halve(ctx, ids, err, h.sweepSome)
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
	return nil
}
