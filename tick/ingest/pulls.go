package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
)

// rotateAfter is the age at which the details of an open pull request are read again although
// nothing shows a change: no stamp is proof.
const rotateAfter = 30 * time.Minute

func (h *reading) defers(nodeID string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deferPull(nodeID, err)
}

// deferPull leaves a pull request for a later pass. One that is not tracked yet is told of where its adoption
// is undone.
func (h *reading) deferPull(nodeID string, err error) {
	h.unanswered[nodeID] = err
	for _, pull := range h.openPulls.light {
		if pull.NodeID == nodeID {
			h.tried[pull.Number] = true
			h.deferred = append(h.deferred, deferredPull{pull: pull, err: err})
		}
	}
}

// readOurAccount asks for our account when no sweep does. The request is conditional: the answer is
// the same in nearly every pass.
func (h *reading) readOurAccount(ctx context.Context) error {
	url := "user@" + h.repo.Name.Host
	var v work.Validator
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		v, _, err = tx.GetValidator(ctx, 0, url)
		return err
	})
	if err != nil {
		return err
	}
	if len(h.env.Accounts.Operators(h.repo.Name.Host)) == 0 {
		v.ETag = ""
	}
	who, etag, same, err := h.repo.GitHub.Viewer(ctx, v.ETag)
	if github.IsStatus(err, 403) {
		return h.env.ReadOwnAccount(ctx, h.repo)
	}
	if err != nil || same {
		return err
	}
	if err := h.env.AcceptAccount(ctx, h.repo.Name.Host, who); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.validators = append(h.validators, work.Validator{URL: url, ETag: etag, SeenAt: h.now()})
	return nil
}

// readPulls reads the details of pull requests that changed or were never read, and of a few in
// rotation, until the slice is full. more reports whether some remain.
func (h *reading) readPulls(ctx context.Context) (more bool, err error) {
	h.noteUnread()
	found := h.unreadAdoptions() // they are stored whole
	changed := slices.DeleteFunc(h.changedPulls(), func(id string) bool { return slices.Contains(found, id) })
	for group := range slices.Chunk(slices.Concat(found, changed), github.MaxDetails) {
		if h.full() && len(h.unreadAdoptions()) == 0 {
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

// readGroup reads the details of some pull requests. stop reports whether the time is up.
func (h *reading) readGroup(ctx context.Context, ids []string) (stop bool, err error) {
	if len(ids) == 0 {
		return false, nil
	}
	h.hung = ""
	first, hurried := len(h.tried) == 0, h.incomplete != nil
	err = h.readDetails(ctx, ids)
	if github.OutOfTime(err) {
		h.stopReading(err)
		if first && len(h.tried) == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			h.leaveLongPull(cmp.Or(h.hung, ids[0]), hurried)
		}
		return true, nil
	}
	return false, err
}

// unreadAdoptions returns the pull requests adopted in this slice whose details are not read yet.
func (h *reading) unreadAdoptions() (ids []string) {
	for _, n := range sortedKeys(h.adopted) {
		_, read := h.readPull(n)
		if pull, ok := h.openPulls.light[n]; ok && !read && !h.tried[n] {
			ids = append(ids, pull.NodeID)
		}
	}
	return ids
}

// prefetchDetails prefetches the details of the first pull requests that changed.
func prefetchDetails(ctx context.Context, h *reading) {
	ids := h.changedPulls()
	if len(ids) == 0 {
		return
	}
	ids = ids[:min(len(ids), github.MaxDetails)]
	since := h.readSince(ids)
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.repo.GitHub.DetailsSince(ctx, ids, since) })
}

func (h *reading) changedPulls() []string {
	changed := map[int]string{}
	for n, pull := range h.openPulls.light {
		light, seen := h.lights[n]
		if !seen || light == pull.Fingerprint && pull.Failures == 0 && !pull.ReadAt.IsZero() {
			continue
		}
		if _, read := h.readPull(n); !read && !h.tried[n] { // by this pass
			changed[n] = pull.NodeID
		}
	}
	var ids []string
	for _, n := range sortedKeys(changed) {
		ids = append(ids, changed[n])
	}
	return ids
}

// rotation returns one batch of the pull requests with the oldest details.
func (h *reading) rotation() []string {
	var old []store.OpenPull
	for n, pull := range h.openPulls.light {
		light, seen := h.lights[n]
		if seen && !h.tried[n] && light == pull.Fingerprint && h.now().Sub(pull.ReadAt).Abs() > rotateAfter {
			old = append(old, pull)
		}
	}
	slices.SortFunc(old, func(a, b store.OpenPull) int { return a.ReadAt.Compare(b.ReadAt) })
	var ids []string
	for _, pull := range old[:min(len(old), github.MaxDetails)] {
		ids = append(ids, pull.NodeID)
	}
	return ids
}

// intakePull ingests a pull request's details or none of them. Its snapshot and the events that
// the details show change together: a merge recorded while the pull request still counts as open
// would never be acted on.
func (h *reading) intakePull(ctx context.Context, old work.PullRequest, d github.PullDetail) error {
	err := h.intakeDetails(ctx, old, d)
	if err != nil {
		delete(h.pulls, d.Number)
		return err
	}
	h.tried[d.Number] = true
	delete(h.unread, d.Number)
	return nil
}

func (h *reading) intakeDetails(ctx context.Context, old work.PullRequest, d github.PullDetail) error {
	h.labels[d.Number] = d.Labels
	pull := old
	pull.Title, pull.URL, pull.State, pull.HeadOID, pull.Base = d.Title, d.URL, d.State, d.HeadOID, d.Base
	pull.Mergeable, pull.Rollup, pull.MergeCommit, pull.UpdatedAt = d.Mergeable, d.Rollup, d.MergeCommit, d.UpdatedAt
	pull.Draft, pull.Author, pull.CrossRepo, pull.HeadRepo, pull.BaseOID, pull.BaseChanged = d.Draft, d.Author, d.CrossRepo, d.HeadRepo, d.BaseOID, d.BaseChanged
	pull.ChecksSince = h.checksSince(old, d)
	pull.Fingerprint, pull.DetailsAt, pull.WholeAt = h.lights[d.Number], h.now(), time.Time{}
	if !d.Since.IsZero() {
		pull.WholeAt = old.ReadAt()
	}
	if github.HiddenByRollup(d.Checks) {
		pull.Fingerprint = "" // it does not change when another check fails or ends
	}
	pull.Failures, pull.LastError, pull.NotBefore = 0, "", time.Time{}
	if err := h.stateEvent(ctx, old, pull); err != nil {
		return err
	}
	if old.DetailsAt.IsZero() { // comments from before we tracked it
		talk, err := h.wholeTalk(ctx, d.Number)
		if err != nil {
			return err
		}
		h.notePullTalk(pull, talk)
	}
	if err := h.followDesign(ctx, old, &pull); err != nil {
		return err
	}
	timeline, err := h.notePullPauses(ctx, &pull, d)
	if err != nil {
		return err
	}
	if err := h.intakeReviews(ctx, pull, d); err != nil {
		return err
	}
	if err := h.keepApprovals(ctx, old, pull); err != nil {
		return err
	}
	if err := h.findMergeBase(ctx, old, &pull); err != nil {
		return err
	}
	item, err := h.itemOfPull(ctx, pull)
	if err != nil {
		return err
	}
	news := h.newsOf(d.Number)
	news.row, news.read = pull, true
	if old.DetailsAt.IsZero() && h.byUs(d.Pull) {
		news.proposed = work.Proposed(d.Body)
	}
	if item.Flow == work.FlowReview { // its author handles its head, its checks and its conflicts
		if old.ID == 0 && h.repo.Settings.Review.Enabled {
			noteReviewsToRecall(h, d) // not by its commits: a trailer of theirs proves nothing
		}
		return h.takeReviewLabel(ctx, item, old, d, timeline)
	}
	if err := h.findFixes(ctx, old, d); err != nil {
		return err
	}
	if err := h.readEnd(ctx, old, pull, d); err != nil {
		return err
	}
	return h.headEvents(ctx, item, old, pull, d)
}

// stateEvent adds an event if a pull request was merged, closed or reopened.
func (h *reading) stateEvent(ctx context.Context, old, pull work.PullRequest) error {
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
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, pull.Number)
	if err != nil {
		return err
	}
	t, ok := lastEvent(timeline, what, "")
	if !ok { // the timeline lags; the stamp tells this time from the next
		t.ID = pull.UpdatedAt.UnixMilli()
	}
	h.newsOf(pull.Number).add(timelineEvent(work.Item{ID: pull.ItemID}, kind, pull.Number, t, pull.HeadOID))
	return nil
}

// headEvents adds events for a head that moved, has conflicts or has red checks.
func (h *reading) headEvents(ctx context.Context, item work.Item, old, pull work.PullRequest, d github.PullDetail) error {
	about := func(kind work.EventKind, detail string) work.Event {
		hash := work.ContentHash(string(kind), detail)
		return work.Event{
			ItemID: pull.ItemID, Number: pull.Number, Kind: kind, Source: pull.HeadOID, Hash: hash,
			Key: work.EventKey(pull.Number, kind, pull.HeadOID, hash), URL: pull.URL, Body: detail,
			CreatedAt: d.UpdatedAt, UpdatedAt: d.UpdatedAt,
		}
	}
	pushed := false
	if old.HeadOID != pull.HeadOID && old.HeadOID != "" {
		ours, err := h.ourCommit(ctx, pull.HeadOID)
		if err != nil {
			return err
		}
		faults, told := "", item.Flow.Document() // what we push has none
		if pushed = !ours; pushed {
			if faults, told, err = h.documentFaults(ctx, item, pull); err != nil {
				return err
			}
		}
		if pushed || told {
			e := about(work.EventHead, faults)
			if !told {
				e.Outcome = "noted"
			}
			h.newsOf(pull.Number).add(candidate{event: e, pull: true})
		}
	}
	if pull.State != work.PullOpen {
		return nil
	}
	if err := h.noteAgents(ctx, old, pull, pushed); err != nil {
		return err
	}
	if err := h.detectRewrite(ctx, old, pull); err != nil {
		return err
	}
	policy := github.PolicyAt(d.Checks, h.repo.Settings.Checks, h.env.Now())
	if red := github.RedChecks(d.Checks, policy); red != "" {
		e := about(work.EventCheck, red)
		if at := github.RedSince(d.Checks, policy); !at.IsZero() {
			e.CreatedAt = at
		}
		h.newsOf(pull.Number).add(candidate{event: e, pull: true})
	}
	return h.conflictEvent(ctx, old, pull, about)
}

func (h *reading) ourCommit(ctx context.Context, oid string) (bool, error) {
	return readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.HasTurnCommit(ctx, h.row.ID, oid) })
}

const detailsAtOnce = 10

// readDetails reads the details of pull requests by their node ids. The queries run side by side;
// the answers are ingested one by one, in order.
func (h *reading) readDetails(ctx context.Context, ids []string) error {
	groups := slices.Collect(slices.Chunk(ids, github.MaxDetails))
	answers := make([][]github.PullDetail, len(groups))
	reads := make([]func(context.Context) error, len(groups))
	for i, group := range groups {
		reads[i] = func(ctx context.Context) (err error) {
			answers[i], err = h.fetchDetails(ctx, group)
			return err
		}
	}
	err := github.FirstError(runAtOnce(ctx, detailsAtOnce, reads))
	for _, d := range slices.Concat(answers...) {
		if err := h.takeDetails(ctx, d); err != nil {
			return err
		}
	}
	return err
}

// fetchDetails reads the details of some pull requests and defers those that GitHub does not answer
// for. It returns what it read together with an error.
func (h *reading) fetchDetails(ctx context.Context, ids []string) ([]github.PullDetail, error) {
	read, missing, err := h.repo.GitHub.DetailsSince(ctx, ids, h.readSince(ids))
	if err != nil {
		left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.ContainsFunc(read, func(d github.PullDetail) bool { return d.NodeID == id })
		})
		if github.OutOfTime(err) && len(left) > 0 {
			h.mu.Lock()
			h.hung = left[0]
			h.mu.Unlock()
		}
		err = h.halve(ctx, left, err, func(ctx context.Context, half []string) error {
			some, err := h.fetchDetails(ctx, half)
			read = append(read, some...)
			return err
		})
		return read, err
	}
	for _, id := range missing {
		h.defers(id, errors.New("GitHub does not know this pull request any more"))
	}
	return read, nil
}

// readSince returns, by node id, since when the reviews and threads of pull requests are read: those
// from before are stored. What was read whole too long ago is read whole again, as no stamp is proof.
func (h *reading) readSince(ids []string) map[string]time.Time {
	since := map[string]time.Time{}
	for _, pull := range h.openPulls.light {
		if age := h.now().Sub(pull.ReadAt); age >= 0 && age <= rotateAfter && slices.Contains(ids, pull.NodeID) {
			since[pull.NodeID] = pull.ReadAt.Add(-overlap)
		}
	}
	return since
}

// readWhole reads the details of a pull request again, whole, if they left out what may matter now:
// reviews that GitHub dismissed because of a new head or base, or findings of a new verdict in
// threads that began long before it was submitted.
func (h *reading) readWhole(ctx context.Context, old work.PullRequest, d github.PullDetail) (github.PullDetail, error) {
	judges := func(r github.Review) bool {
		return changedAt(r).After(d.Since) && r.State != "COMMENTED" && r.State != "PENDING"
	}
	same := d.HeadOID == old.HeadOID && d.Base == old.Base && d.State == old.State
	if d.Since.IsZero() || same && !slices.ContainsFunc(d.Reviews, judges) {
		return d, nil
	}
	read, _, err := h.repo.GitHub.DetailsSince(ctx, []string{d.NodeID}, nil)
	if err == nil && len(read) == 0 {
		err = errors.New("GitHub does not know this pull request any more")
	}
	if err != nil {
		return d, err
	}
	return read[0], nil
}

func (h *reading) takeDetails(ctx context.Context, d github.PullDetail) error {
	pull, ok, err := h.openPulls.whole(ctx, d.Number)
	if !ok || err != nil {
		return err
	}
	if d, err = h.readWhole(ctx, pull, d); err == nil {
		err = h.intakePull(ctx, pull, d)
	}
	if err != nil && github.IsItemError(err) {
		h.defers(pull.NodeID, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pull request #%d: %w", d.Number, err)
	}
	return nil
}

// conflictEvent adds an event if a pull request has conflicts: once per head, and again if it was
// mergeable in between.
func (h *reading) conflictEvent(ctx context.Context, old, pull work.PullRequest, about func(work.EventKind, string) work.Event) error {
	if pull.Mergeable != work.Conflicting || old.Mergeable == work.Conflicting && old.HeadOID == pull.HeadOID {
		return nil
	}
	e := about(work.EventConflict, "")
	known, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.HasEvent(ctx, h.row.ID, e.Key) })
	if err != nil {
		return err
	}
	if known {
		e = about(work.EventConflict, fmt.Sprintf("since %d", h.now().Unix()))
	}
	h.newsOf(pull.Number).add(candidate{event: e, pull: true})
	return nil
}

// readEnd reads how a pull request ended, if its details show that for the first time.
func (h *reading) readEnd(ctx context.Context, old, pull work.PullRequest, d github.PullDetail) error {
	if pull.State == work.PullOpen || old.State == pull.State {
		return nil
	}
	return h.readCommitsAtEnd(ctx, pull, d.ClosedAt)
}

// readCommitsAtEnd reads how many commits a pull request had at its end, and how many are people's:
// one request, once. Counts that GitHub cannot give stay unknown.
func (h *reading) readCommitsAtEnd(ctx context.Context, pull work.PullRequest, at time.Time) error {
	end := work.PullEnd{At: at, Human: -1, ReadAt: h.now()}
	commits, err := h.repo.GitHub.PullCommits(ctx, h.row.Current, pull.Number)
	if err != nil {
		if !github.IsItemError(err) { // counts must not keep a merge from being acted on
			return err
		}
		h.env.Log.WarnContext(ctx, "could not read the commits of a pull request that ended", "repo_full_name", h.repo.Name.FullName(), "pr_number", pull.Number, "error", err)
	} else if end.Commits, end.Human, err = h.countHuman(ctx, commits); err != nil {
		return err
	}
	h.newsOf(pull.Number).end = &end
	return nil
}

func (h *reading) countHuman(ctx context.Context, commits []work.Commit) (all, human int, err error) {
	known := map[string]bool{}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, c := range commits {
			if known[c.OID], err = tx.HasTurnCommit(ctx, h.row.ID, c.OID); err != nil {
				return err
			}
		}
		return nil
	})
	us := h.env.Accounts.Operators(h.repo.Name.Host)
	made := work.Authorship{Ours: func(id int64) bool { return slices.Contains(us, id) }, Known: func(oid string) bool { return known[oid] }}
	for _, c := range commits {
		if !made.ByUs(c) {
			human++
		}
	}
	return len(commits), human, err
}

// itemOfPull returns the work item of a pull request, with this slice's changes; a zero item if
// none is stored yet.
func (h *reading) itemOfPull(ctx context.Context, pull work.PullRequest) (item work.Item, err error) {
	if pull.ItemID == 0 {
		return h.issues[h.adopted[pull.Number]].item, nil
	}
	if item, ok := h.changedItem(pull.Number); ok && item.ID == pull.ItemID {
		return item, nil
	}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		item, err = tx.GetItem(ctx, pull.ItemID)
		return err
	})
	return item, err
}
