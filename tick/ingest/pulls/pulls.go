package pulls

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// rotateAfter is how old the details of an open pull request may grow
// although nothing said that it changed: no stamp is proof.
const rotateAfter = 30 * time.Minute

func (h *Pulls) defers(nodeID string, err error) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.deferPull(nodeID, err)
}

func (h *Pulls) deferPull(nodeID string, err error) {
	for _, pull := range h.Open {
		if pull.NodeID == nodeID {
			h.Tried[pull.Number] = true
			h.Deferred = append(h.Deferred, batch.Deferral{Pull: pull, Err: err})
		}
	}
}

// whoAreWe asks for our account when no sweep does. The answer is conditional:
// it is the same in nearly every pass.
func (h *Pulls) whoAreWe(ctx context.Context) error {
	url := "user@" + h.R.Name.Host
	var v work.Validator
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		v, _, err = tx.GetValidator(ctx, 0, url)
		return err
	})
	if err != nil {
		return err
	}
	if len(h.P.Accounts.Operators(h.R.Name.Host)) == 0 {
		v.ETag = ""
	}
	who, etag, same, err := h.R.GitHub.Viewer(ctx, v.ETag)
	if github.IsStatus(err, 403) {
		return h.P.MeetApp(ctx, h.R)
	}
	if err != nil || same {
		return err
	}
	if err := h.P.Meet(ctx, h.R.Name.Host, who); err != nil {
		return err
	}
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Validators = append(h.Validators, work.Validator{URL: url, ETag: etag, SeenAt: h.Now()})
	return nil
}

// ReadPulls reads the details of the pull requests that changed, of those never read,
// and of a few in rotation, until the slice is full. It says whether there are more.
func (h *Pulls) ReadPulls(ctx context.Context) (more bool, err error) {
	h.NoteUnread()
	found := h.halfFound() // they are stored whole
	changed := slices.DeleteFunc(h.changedPulls(), func(id string) bool { return slices.Contains(found, id) })
	for group := range slices.Chunk(slices.Concat(found, changed), github.MaxDetails) {
		if h.Full() && len(h.halfFound()) == 0 {
			return true, nil
		}
		if stop, err := h.readGroup(ctx, group); stop || err != nil {
			return false, err
		}
	}
	if h.rotated {
		return false, nil
	}
	h.rotated = true
	_, err = h.readGroup(ctx, h.rotation())
	return false, err
}

// readGroup reads the details of some pull requests, and says whether the time is up.
func (h *Pulls) readGroup(ctx context.Context, ids []string) (stop bool, err error) {
	if len(ids) == 0 {
		return false, nil
	}
	err = h.ReadBatch(ctx, ids)
	if batch.OutOfTime(err) {
		h.StopReading(err)
		return true, nil
	}
	return false, err
}

// halfFound are those that this slice found again and whose details are not read.
func (h *Pulls) halfFound() (ids []string) {
	for _, n := range batch.SortedKeys(h.Adopted) {
		_, read := h.PullRows[n]
		if pull, ok := h.Open[n]; ok && !read && !h.Tried[n] {
			ids = append(ids, pull.NodeID)
		}
	}
	return ids
}

// Foresee asks in advance for the details of the first of those that changed.
func Foresee(ctx context.Context, h *Pulls) {
	ids := h.changedPulls()
	if len(ids) == 0 {
		return
	}
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.R.GitHub.Details(ctx, ids[:min(len(ids), github.MaxDetails)]) })
}

func (h *Pulls) changedPulls() []string {
	var ids []string
	for _, n := range batch.SortedKeys(h.Open) {
		pull := h.Open[n]
		light, seen := h.Lights[n]
		if _, read := h.PullRows[n]; read || h.Tried[n] {
			continue // in this very pass
		}
		if seen && (pull.DetailsAt.IsZero() || pull.Failures > 0 || light.Fingerprint != pull.Fingerprint) {
			ids = append(ids, pull.NodeID)
		}
	}
	return ids
}

// rotation is one batch of the pull requests whose details are the oldest.
func (h *Pulls) rotation() []string {
	var old []work.PullRequest
	for n, pull := range h.Open {
		light, seen := h.Lights[n]
		if seen && !h.Tried[n] && light.Fingerprint == pull.Fingerprint && h.Now().Sub(pull.DetailsAt).Abs() > rotateAfter {
			old = append(old, pull)
		}
	}
	if h.Look != nil { // one batch a pass for the host
		old = slices.DeleteFunc(old, func(p work.PullRequest) bool { return !slices.Contains(h.Look.Old, p.NodeID) })
	}
	slices.SortFunc(old, func(a, b work.PullRequest) int { return a.DetailsAt.Compare(b.DetailsAt) })
	var ids []string
	for _, pull := range old[:min(len(old), github.MaxDetails)] {
		ids = append(ids, pull.NodeID)
	}
	return ids
}

// intakePull takes a pull request's details over, or nothing of them: its
// snapshot changes only together with the events that they show, and those are
// understood only together with it. A merge that is noted while the pull request
// still counts as open would never be acted on.
func (h *Pulls) intakePull(ctx context.Context, old work.PullRequest, d github.PullDetail) error {
	events, comments := len(h.Events), len(h.ListedComments)
	err := h.intakeDetails(ctx, old, d)
	h.Lists.Settle(err == nil, d.Number, h.Adopted[d.Number])
	if err != nil {
		h.Events, h.ListedComments = h.Events[:events], h.ListedComments[:comments]
		maps.DeleteFunc(h.Promoted, func(_ int, p *batch.Promotion) bool { return p.Item.DesignPull == d.Number })
		delete(h.PullRows, d.Number)
		delete(h.Threads, d.Number)
		delete(h.Lost, d.Number)
		delete(h.Ends, d.Number)
		delete(h.LabelHeads, d.Number)
		return err
	}
	h.Tried[d.Number] = true
	delete(h.Unread, d.Number)
	return nil
}

func (h *Pulls) intakeDetails(ctx context.Context, old work.PullRequest, d github.PullDetail) error {
	pull := old
	pull.Title, pull.URL, pull.State, pull.HeadOID, pull.Base = d.Title, d.URL, d.State, d.HeadOID, d.Base
	pull.Mergeable, pull.Rollup, pull.MergeCommit, pull.UpdatedAt = d.Mergeable, d.Rollup, d.MergeCommit, d.UpdatedAt
	pull.Draft, pull.Author, pull.CrossRepo, pull.HeadRepo, pull.BaseOID = d.Draft, d.Author, d.CrossRepo, d.HeadRepo, d.BaseOID
	pull.ChecksSince = h.checksSince(old, d)
	pull.Fingerprint, pull.DetailsAt = h.Lights[d.Number].Fingerprint, h.Now()
	if github.HalfRed(d.Checks) {
		pull.Fingerprint = "" // it will not change with the rest of the checks
	}
	pull.Failures, pull.LastError, pull.NotBefore = 0, "", time.Time{}
	if err := h.stateEvent(ctx, old, pull); err != nil {
		return err
	}
	if old.DetailsAt.IsZero() { // what was said before we looked
		comments, err := h.Ahead().CommentsOf(ctx, d.Number, time.Time{})
		if err != nil {
			return err
		}
		h.Ahead().NoteTalk(d.Number, comments)
	}
	if err := h.descend(ctx, old, &pull); err != nil {
		return err
	}
	timeline, err := h.comments.PullTaken(ctx, &pull, d)
	if err != nil {
		return err
	}
	if err := h.MissOnPull(ctx, pull, d); err != nil {
		return err
	}
	if err := h.intakeReviews(ctx, pull, d); err != nil {
		return err
	}
	if err := h.keepApprovals(ctx, old, pull, d); err != nil {
		return err
	}
	item, err := h.OfPull(ctx, pull)
	if err != nil {
		return err
	}
	h.PullRows[d.Number] = pull
	if item.Flow == work.FlowReview { // its author sees to its head, its checks and its conflicts
		if old.ID == 0 && h.R.Settings.Review.Enabled {
			foundAgain(h, d) // not by its commits: a trailer of theirs proves nothing
		}
		return Theirs{h}.intake(ctx, item, old, d, timeline)
	}
	if err := h.findFixes(ctx, old, d); err != nil {
		return err
	}
	if err := h.readEnd(ctx, old, pull, d); err != nil {
		return err
	}
	return h.headEvents(ctx, old, pull, d)
}

// stateEvent notes that a pull request was merged, closed or reopened.
func (h *Pulls) stateEvent(ctx context.Context, old, pull work.PullRequest) error {
	if old.State == pull.State {
		return nil
	}
	kind, what := work.EventReopened, "reopened"
	switch pull.State {
	case work.PullMerged:
		kind, what = work.EventMerged, "merged"
	case work.PullClosed:
		kind, what = work.EventClosed, "closed"
	case work.PullOpen:
	}
	timeline, err := h.R.GitHub.TimelineOf(ctx, h.Repo.Current, pull.Number)
	if err != nil {
		return err
	}
	t, ok := batch.Last(timeline, what, "")
	if !ok { // the timeline lags; the stamp tells this time from the next
		t.ID = pull.UpdatedAt.UnixMilli()
	}
	h.Add(batch.Fact(work.Item{ID: pull.ItemID}, kind, pull.Number, t, pull.HeadOID))
	return nil
}

// headEvents notes what is new about the head: that it moved, that it cannot
// be merged, that its checks have failed.
func (h *Pulls) headEvents(ctx context.Context, old, pull work.PullRequest, d github.PullDetail) error {
	about := func(kind work.EventKind, detail string) work.Event {
		hash := work.ContentHash(string(kind), detail)
		return work.Event{
			ItemID: pull.ItemID, Number: pull.Number, Kind: kind, Source: pull.HeadOID, Hash: hash,
			Key: work.EventKey(pull.Number, kind, pull.HeadOID, hash), URL: pull.URL, Body: detail,
			CreatedAt: d.UpdatedAt, UpdatedAt: d.UpdatedAt,
		}
	}
	if old.HeadOID != pull.HeadOID && old.HeadOID != "" {
		ours, err := h.ourCommit(ctx, pull.HeadOID)
		if err != nil {
			return err
		}
		if !ours {
			e := about(work.EventHead, "")
			e.Outcome = "noted"
			h.Add(batch.Inbound{Event: e, Pull: true})
		}
	}
	if pull.State != work.PullOpen {
		return nil
	}
	if err := h.detectRewrite(ctx, old, pull); err != nil {
		return err
	}
	policy := github.Patient(d.Checks, h.R.Settings.Checks, h.P.Now())
	if red := github.RedChecks(d.Checks, policy); red != "" {
		e := about(work.EventCheck, red)
		if at := github.RedSince(d.Checks, policy); !at.IsZero() {
			e.CreatedAt = at
		}
		h.Add(batch.Inbound{Event: e, Pull: true})
	}
	return h.conflictEvent(ctx, old, pull, about)
}

func (h *Pulls) ourCommit(ctx context.Context, oid string) (ours bool, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		ours, err = tx.HasTurnCommit(ctx, h.Repo.ID, oid)
		return err
	})
	return ours, err
}
