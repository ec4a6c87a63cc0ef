package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// sweepsAtOnce bounds the light queries under way for one repository.
const sweepsAtOnce = 4

// sweep is one of the light queries of a pass. The next pass asks the same one, unless another
// pull request was opened or ended: the seal of its answer is stored under its name.
type sweep struct {
	name  string // empty: no seal is stored
	pulls []github.PullLight
}

// SweepPulls asks what changed in the open tracked pull requests, and who we
// are: that decides what is ours, so nothing is judged without it.
func (h *Pulls) SweepPulls(ctx context.Context) error {
	open := make([]github.PullLight, 0, len(h.Open.Light))
	now := h.Now()
	for _, n := range batch.SortedKeys(h.Open.Light) {
		if pull := h.Open.Light[n]; !pull.NotBefore.After(now) {
			open = append(open, asStored(pull))
		}
	}
	if len(open) == 0 {
		return h.whoAreWe(ctx)
	}
	var sweeps []sweep
	for part := range slices.Chunk(open, github.MaxSweep) {
		sweeps = append(sweeps, sweep{fmt.Sprintf("sweep %d", len(sweeps)), part})
	}
	// Which ones go last differs from pass to pass: they may be too late.
	first := int(now.Unix() % int64(len(sweeps)))
	sweeps = slices.Concat(sweeps[first:], sweeps[:first])
	asks := make([]func() error, len(sweeps))
	for i, s := range sweeps {
		asks[i] = func() error { return s.ask(ctx, h) }
	}
	errs := batch.AtOnce(sweepsAtOnce, asks)
	err := batch.FirstError(errs)
	if len(h.Lights) == 0 || slices.ContainsFunc(errs, func(err error) bool { return err != nil && !batch.OutOfTime(err) }) {
		return err
	}
	if err != nil {
		h.StopReading(err)
	}
	return nil
}

// asStored is what a light query came to when the pull request was taken in.
func asStored(p store.OpenPull) github.PullLight {
	return github.PullLight{NodeID: p.NodeID, Number: p.Number, Fingerprint: p.Fingerprint}
}

// halve reads a batch that failed in two halves, so that one pull request that
// GitHub cannot answer for does not hide the others; alone, it is put off.
func (h *Pulls) halve(ctx context.Context, ids []string, err error, read func(context.Context, []string) error) error {
	switch half := len(ids) / 2; {
	case !batch.IsItemError(err):
		return err
	case half == 0:
		h.defers(ids[0], err)
		return nil
	default:
		return errors.Join(read(ctx, ids[:half]), read(ctx, ids[half:]))
	}
}

// SweepBatch asks about some, by their node ids.
func (h *Pulls) SweepBatch(ctx context.Context, ids []string) error {
	s := sweep{}
	for _, id := range ids {
		s.pulls = append(s.pulls, github.PullLight{NodeID: id})
	}
	return s.ask(ctx, h)
}

// ask sends a light query, and takes in what it says.
func (q sweep) ask(ctx context.Context, h *Pulls) error {
	sealed := h.Known.Pages[q.name].ETag
	s, err := h.R.GitHub.SweepAgain(ctx, h.Repo.Current, q.pulls, sealed)
	if err != nil {
		return h.halve(ctx, idsOf(q.pulls), err, h.SweepBatch)
	}
	if err := h.P.Meet(ctx, h.R.Name.Host, s.Viewer); err != nil {
		return err
	}
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Swept(s.Repo)
	for _, light := range s.Pulls {
		h.Lights[light.Number] = light.Fingerprint
	}
	for _, id := range s.Missing {
		h.deferPull(id, errors.New("GitHub does not know this pull request any more"))
	}
	if q.name != "" && s.Seal != "" && s.Seal != sealed {
		h.Validators = append(h.Validators, work.Validator{RepoID: h.Repo.ID, URL: q.name, ETag: s.Seal, SeenAt: h.Now()})
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
