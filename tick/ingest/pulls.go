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

// pullNews is the news of one pull request.
type pullNews struct {
	row  work.PullRequest // without number: it was neither read nor is it tracked from now on
	read *pullRead        // as it was read; nil: it was not

	verdicts    []readVerdict
	baseMoved   bool     // the base was rewritten, and nothing shows when
	sameCommits []string // merge bases of verdicts on the head that merging brings no more than
}

// newsOf returns the news of a pull request, empty at first.
func (h *reading) newsOf(pull int) *pullNews {
	if h.pulls[pull] == nil {
		h.pulls[pull] = &pullNews{}
	}
	return h.pulls[pull]
}

// putOfPull has something stored about a pull request, by the id of its row.
func (h *reading) putOfPull(pull int, put func(ctx context.Context, tx *store.Tx, id int64) error) {
	news := h.newsOf(pull)
	h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error { return put(ctx, tx, news.row.ID) })
}

// pullRead is a tracked pull request as it was read, with what its details ask for. It does not change.
type pullRead struct {
	github.PullDetail
	old      work.PullRequest // its row
	item     work.Item
	theirs   bool                   // somebody else's: its author handles its head, its checks and its conflicts
	pushed   bool                   // its head is one that we did not push
	timeline []github.TimelineEvent // if its labels or its state changed
	talk     []github.Comment       // from before we tracked it
	files    []string               // that an implementation touches, read if its head moved
	commits  []work.Commit          // if they say who made them, or what they answer
	unlisted error                  // why GitHub does not list the commits of one that ended
	over     bool                   // it ended before the database knew it: of all that, only its end is read
	since    time.Time              // if it is over: when the label was set that led to it
}

// ended reports whether it was merged or closed since its details were read before.
func (r pullRead) ended() bool { return r.over || r.State != work.PullOpen && r.old.State != r.State }

// relabelled reports whether labels were set or removed since then.
func (r pullRead) relabelled() bool { return r.LabelChanges != r.old.LabelChanges }

// readPull reads a pull request: its details, and then side by side what these ask for.
func (h *reading) readPull(ctx context.Context, r pullRead) (pullRead, error) {
	pull := r.old
	if !r.over {
		var err error
		if r.PullDetail, err = h.readDetails(ctx, pull); err != nil {
			return r, err
		}
	}
	r.item, r.files = h.itemOfPull(ctx, pull), pull.Files
	r.theirs = r.item.Flow == work.FlowReview
	moved := pull.HeadOID != r.HeadOID
	r.pushed = !r.theirs && moved && pull.HeadOID != "" && !stored(ctx, h, func(ctx context.Context, tx *store.Tx) (bool, error) {
		return tx.HasTurnCommit(ctx, h.row.ID, r.HeadOID)
	})
	var reads []func(context.Context) error
	if r.relabelled() || pull.State != r.State && r.State != work.PullMerged {
		reads = append(reads, func(ctx context.Context) (err error) {
			r.timeline, err = h.repo.GitHub.TimelineOf(ctx, h.row.Current, r.Number)
			return err
		})
	}
	if pull.DetailsAt.IsZero() && r.CommentCount > 0 {
		reads = append(reads, func(ctx context.Context) (err error) {
			r.talk, err = h.wholeTalk(ctx, r.Number)
			return err
		})
	}
	if r.item.Flow == work.FlowImplementation && pull.ItemID != 0 && r.State == work.PullOpen && (moved || pull.DetailsAt.IsZero()) {
		reads = append(reads, func(ctx context.Context) (err error) {
			r.files, err = h.repo.GitHub.PullFiles(ctx, h.row.Current, r.Number)
			return err
		})
	}
	makers := !r.over && pull.ID == 0 && h.repo.Settings.Review.Enabled
	if !r.theirs && (makers || r.ended()) {
		reads = append(reads, func(ctx context.Context) (err error) {
			if r.commits, err = h.repo.GitHub.PullCommits(ctx, h.row.Current, r.Number); !makers && github.IsItemError(err) {
				r.unlisted, err = err, nil // counts must not keep a merge from being acted on
			}
			return err
		})
	}
	err := github.SideBySide(ctx, reads...)
	return r, err
}

// sharedUntil are the tenths of Timings.IngestTimeout that a query about several pull requests may take.
const sharedUntil = 4

// readDetails reads the details of a pull request, and in the same query those of the next ones. What GitHub does not
// answer is read again with its number, and its error is the number's.
func (h *reading) readDetails(ctx context.Context, pull work.PullRequest) (d github.PullDetail, err error) {
	c := h.numberOf(pull.Number)
	ids := []string{pull.NodeID}
	for _, o := range h.next {
		open, is := h.openPulls[o.Number]
		if o != c && is && len(ids) < github.MaxDetails && (o.details || o.waited) && !o.done && !o.waits && !o.asked && !o.unheard { // what was said comes first
			ids = append(ids, open.NodeID)
		}
	}
	if len(ids) > 1 && !c.asked && !h.slow {
		shared, cancel := h.until(ctx, h.config.Runtime.IngestTimeout*sharedUntil/10)
		defer cancel()
		all, _, err := h.repo.GitHub.DetailsSince(shared, ids, h.readSince(ids))
		h.slow = errors.Is(err, context.DeadlineExceeded)
		for _, n := range h.numbers {
			if open, is := h.openPulls[n.Number]; is {
				n.asked = n.asked || slices.Contains(ids, open.NodeID)
			}
		}
		for _, d := range all {
			h.numbers[d.Number].detail = &d
		}
	}
	if c.detail != nil {
		d, c.detail = *c.detail, nil
	} else if d, err = h.detailsOf(ctx, pull.NodeID, h.readSince([]string{pull.NodeID})); err != nil {
		return d, err
	}
	// They may leave out what matters now: reviews that GitHub dismissed because of a new head or base, or findings
	// of a new verdict in threads that began long before it was submitted.
	judges := func(r github.Review) bool {
		return changedAt(r).After(d.Since) && r.State != "COMMENTED" && r.State != "PENDING"
	}
	same := d.HeadOID == pull.HeadOID && d.Base == pull.Base && d.State == pull.State
	if !d.Since.IsZero() && (!same || slices.ContainsFunc(d.Reviews, judges)) {
		return h.detailsOf(ctx, d.NodeID, nil)
	}
	return d, nil
}

// detailsOf reads the details of a pull request that was there.
func (h *reading) detailsOf(ctx context.Context, id string, since map[string]time.Time) (d github.PullDetail, err error) {
	all, _, err := h.repo.GitHub.DetailsSince(ctx, []string{id}, since)
	if err == nil && len(all) == 0 {
		err = errors.New("GitHub does not know this pull request any more")
	}
	if err != nil {
		return d, err
	}
	return all[0], nil
}

// readSince returns, by node id, since when the reviews and threads of pull requests are read: those
// from before are stored. What was read whole too long ago is read whole again, as no stamp is proof.
func (h *reading) readSince(ids []string) map[string]time.Time {
	since := map[string]time.Time{}
	for _, pull := range h.openPulls {
		if age := h.now().Sub(pull.ReadAt); age >= 0 && age <= rotateAfter && slices.Contains(ids, pull.NodeID) {
			since[pull.NodeID] = pull.ReadAt.Add(-overlap)
		}
	}
	return since
}

// takePull ingests a pull request. Its snapshot and the events that its details show
// are stored together: a merge recorded while the pull request still counts as open would never be
// acted on.
func (h *reading) takePull(ctx context.Context, r pullRead) error {
	old, d, pull := r.old, r.PullDetail, r.old
	pull.Title, pull.URL, pull.State, pull.HeadOID, pull.Base = d.Title, d.URL, d.State, d.HeadOID, d.Base
	pull.Mergeable, pull.Rollup, pull.MergeCommit, pull.UpdatedAt = d.Mergeable, d.Rollup, d.MergeCommit, d.UpdatedAt
	pull.Draft, pull.Author, pull.CrossRepo, pull.HeadRepo, pull.BaseOID, pull.BaseChanged = d.Draft, d.Author, d.CrossRepo, d.HeadRepo, d.BaseOID, d.BaseChanged
	pull.Fingerprint, pull.DetailsAt, pull.WholeAt, pull.Files = h.lights[d.Number], h.now(), time.Time{}, r.files
	if !d.Since.IsZero() {
		pull.WholeAt = old.ReadAt()
	}
	if github.HiddenByRollup(d.Checks) {
		pull.Fingerprint = "" // it does not change when another check fails or ends
	}
	switch open := d.Rollup == "PENDING" || d.Rollup == "EXPECTED" || d.Rollup == work.NeverStarted; {
	case !open:
		pull.ChecksSince = time.Time{}
	case old.HeadOID != d.HeadOID || old.ChecksSince.IsZero():
		pull.ChecksSince = h.now()
	}
	news := h.newsOf(d.Number)
	news.row, news.read = pull, &r
	if r.ended() && !r.theirs {
		h.putEnd(ctx, r)
	}
	if err := h.followDesign(ctx, r, pull); err != nil || r.over {
		return err
	}
	h.pullEnded = h.pullEnded || d.State != work.PullOpen
	h.labels[d.Number] = d.Labels
	h.addState(r)
	h.addTalk(work.EventIssue, pull.ItemID, r.talk)
	h.notePullPauses(r, &pull)
	if err := h.takeReviews(ctx, pull, d); err != nil {
		return err
	}
	if err := h.findMergeBase(ctx, old, &pull); err != nil {
		return err
	}
	news.row = pull
	if r.theirs {
		return h.takeReviewLabel(ctx, r)
	}
	return h.headEvents(ctx, r, pull)
}

// addState adds an event if a pull request was merged, closed or reopened.
func (h *reading) addState(r pullRead) {
	if r.old.State == r.State {
		return
	}
	kind, what := work.EventReopened, "reopened"
	if r.State == work.PullClosed {
		kind, what = work.EventClosed, "closed"
	}
	t, shown := lastEvent(r.timeline, what, "")
	if !shown { // the timeline lags; the stamp tells this time from the next
		t.ID = r.UpdatedAt.UnixMilli()
	}
	if r.State == work.PullMerged { // once
		kind, t = work.EventMerged, github.TimelineEvent{ID: r.MergedAt.UnixMilli(), Actor: r.MergedBy, CreatedAt: r.MergedAt}
	}
	c := timelineEvent(work.Item{ID: r.old.ItemID}, kind, r.Number, t, r.HeadOID)
	if kind == work.EventClosed && r.BranchGone {
		c.event.Body = r.Head
	}
	h.add(c)
}

// headEvents adds events for a head that moved, has conflicts or has red checks.
func (h *reading) headEvents(ctx context.Context, r pullRead, pull work.PullRequest) error {
	old := r.old
	about := func(kind work.EventKind, detail string) work.Event {
		e := newEvent(pull.ItemID, pull.Number, kind, pull.HeadOID, work.ContentHash(string(kind), detail))
		e.URL, e.Body, e.CreatedAt, e.UpdatedAt = pull.URL, detail, r.UpdatedAt, r.UpdatedAt
		return e
	}
	if old.HeadOID != pull.HeadOID && old.HeadOID != "" {
		faults, told := "", r.item.Flow.Document() // what we push has none
		if r.pushed {
			var err error
			if faults, told, err = h.documentFaults(ctx, r.item, pull); err != nil {
				return err
			}
		}
		if r.pushed || told {
			e := about(work.EventHead, faults)
			if !told {
				e.Outcome = "noted"
			}
			h.add(candidate{event: e, pull: true})
		}
	}
	if pull.State != work.PullOpen {
		return nil
	}
	if err := h.detectRewrite(ctx, old, pull); err != nil {
		return err
	}
	if red := github.Red(r.Checks, h.now()); len(red) > 0 {
		e := about(work.EventCheck, github.Listed(red))
		if at := github.LastEnd(red); !at.IsZero() {
			e.CreatedAt = at
		}
		h.add(candidate{event: e, pull: true})
	}
	if pull.Mergeable == work.Conflicting && (old.Mergeable != work.Conflicting || old.HeadOID != pull.HeadOID) { // once per head, and again if it was mergeable in between
		e := about(work.EventConflict, "")
		if stored(ctx, h, func(ctx context.Context, tx *store.Tx) (bool, error) { return tx.HasEvent(ctx, h.row.ID, e.Key) }) {
			e = about(work.EventConflict, fmt.Sprintf("since %d", h.now().Unix()))
		}
		h.add(candidate{event: e, pull: true})
	}
	return nil
}

// putEnd has stored how many commits a pull request had at its end, and how many are people's. Those that GitHub
// does not list stay unknown.
func (h *reading) putEnd(ctx context.Context, r pullRead) {
	end := work.PullEnd{At: r.ClosedAt, Commits: len(r.commits), ReadAt: h.now()}
	known := stored(ctx, h, func(ctx context.Context, tx *store.Tx) (map[string]bool, error) {
		known := map[string]bool{}
		for _, c := range r.commits {
			var err error
			if known[c.OID], err = tx.HasTurnCommit(ctx, h.row.ID, c.OID); err != nil {
				return nil, err
			}
		}
		return known, nil
	})
	made := work.Authorship{Ours: func(id int64) bool { return h.isOurs(work.Account{ID: id}) }, Known: func(oid string) bool { return known[oid] }}
	for _, c := range r.commits {
		if !made.ByUs(c) {
			end.Human++
		}
	}
	if r.unlisted != nil {
		end.Human = -1
		h.log.WarnContext(ctx, "could not read the commits of a pull request that ended", "repo_full_name", h.repo.Name.FullName(), "pr_number", r.Number, "error", r.unlisted)
	}
	h.putOfPull(r.Number, func(ctx context.Context, tx *store.Tx, id int64) error {
		end.PullID = id
		return tx.PutPullEnd(ctx, end)
	})
}
