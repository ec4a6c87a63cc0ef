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
	read     bool              // its details were read, or it was adopted after its end
	row      work.PullRequest  // without number: it was neither read nor is it tracked from now on
	old      *work.PullRequest // its row before its details were read
	threads  []work.Thread     // nil: not read
	fewer    bool              // threads lacks some that are stored
	reviews  pullReviews
	proposed []work.Proposal // follow-ups that its description lists
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

// readPull returns the news of a pull request. It reports false unless this slice read its details.
func (h *reading) readPull(pull int) (*pullNews, bool) {
	n := h.pulls[pull]
	return n, n != nil && n.read
}

// intakeDetails ingests a pull request's details. Its snapshot and the events that the details show
// are stored together: a merge recorded while the pull request still counts as open would never be
// acted on.
func (h *reading) intakeDetails(ctx context.Context, old work.PullRequest, d github.PullDetail) error {
	h.pullEnded = h.pullEnded || d.State != work.PullOpen
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
	if err := h.stateEvent(ctx, old, pull, d); err != nil {
		return err
	}
	if old.DetailsAt.IsZero() && d.CommentCount > 0 { // comments from before we tracked it
		talk, err := h.wholeTalk(ctx, d.Number)
		if err != nil {
			return err
		}
		h.addTalk(work.EventIssue, pull.ItemID, talk)
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
	if err := h.findMergeBase(ctx, old, &pull); err != nil {
		return err
	}
	item, news := h.itemOfPull(ctx, pull), h.newsOf(d.Number)
	news.row, news.old, news.read = pull, &old, true
	if old.DetailsAt.IsZero() && h.byUs(d.Pull) {
		news.proposed = work.Proposed(d.Body)
	}
	theirs := item.Flow == work.FlowReview
	if old.ID == 0 {
		if err := h.recallReviews(ctx, d, !theirs); err != nil {
			return err
		}
	}
	if theirs { // its author handles its head, its checks and its conflicts
		return h.takeReviewLabel(ctx, item, old, d, timeline)
	}
	if pull.State != work.PullOpen && old.State != pull.State {
		if err := h.readCommitsAtEnd(ctx, pull, d.ClosedAt); err != nil {
			return err
		}
	}
	return h.headEvents(ctx, item, old, pull, d)
}

// stateEvent adds an event if a pull request was merged, closed or reopened.
func (h *reading) stateEvent(ctx context.Context, old, pull work.PullRequest, d github.PullDetail) error {
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
	t := github.TimelineEvent{ID: d.MergedAt.UnixMilli(), Actor: d.MergedBy, CreatedAt: d.MergedAt} // it is merged once
	if pull.State != work.PullMerged {
		timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, pull.Number)
		if err != nil {
			return err
		}
		var shown bool
		if t, shown = lastEvent(timeline, what, ""); !shown { // the timeline lags; the stamp tells this time from the next
			t.ID = pull.UpdatedAt.UnixMilli()
		}
	}
	h.add(timelineEvent(work.Item{ID: pull.ItemID}, kind, pull.Number, t, pull.HeadOID))
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
		pushed = !stored(ctx, h, func(ctx context.Context, tx *store.Tx) (bool, error) {
			return tx.HasTurnCommit(ctx, h.row.ID, pull.HeadOID)
		})
		faults, told := "", item.Flow.Document() // what we push has none
		if pushed {
			var err error
			if faults, told, err = h.documentFaults(ctx, item, pull); err != nil {
				return err
			}
		}
		if pushed || told {
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
	if err := h.noteAgents(ctx, old, pull, pushed); err != nil {
		return err
	}
	if err := h.detectRewrite(ctx, old, pull); err != nil {
		return err
	}
	if red := github.Red(d.Checks, h.env.Now()); len(red) > 0 {
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

// readDetails reads the details of a pull request, and ingests them.
func (h *reading) readDetails(ctx context.Context, pull work.PullRequest) error {
	d, read := h.details[pull.Number]
	delete(h.details, pull.Number)
	var err error
	if !read {
		if d, err = h.detailsOf(ctx, pull.NodeID, h.readSince([]string{pull.NodeID})); err != nil {
			return err
		}
	}
	// They may leave out what matters now: reviews that GitHub dismissed because of a new head or base, or findings
	// of a new verdict in threads that began long before it was submitted.
	judges := func(r github.Review) bool {
		return changedAt(r).After(d.Since) && r.State != "COMMENTED" && r.State != "PENDING"
	}
	same := d.HeadOID == pull.HeadOID && d.Base == pull.Base && d.State == pull.State
	if !d.Since.IsZero() && (!same || slices.ContainsFunc(d.Reviews, judges)) {
		if d, err = h.detailsOf(ctx, d.NodeID, nil); err != nil {
			return err
		}
	}
	return h.intakeDetails(ctx, pull, d)
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

// changedSince reports whether a pull request may have changed since its details were read. Two
// changes in one second share a stamp, so the stamp of one read soon after it proves nothing.
func changedSince(pull work.PullRequest, is github.Issue) bool {
	soon := pull.DetailsAt.Sub(pull.UpdatedAt) < overlap
	return is.UpdatedAt.After(pull.UpdatedAt) || soon && is.UpdatedAt.Equal(pull.UpdatedAt)
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
	} else {
		end.Commits, end.Human = h.countHuman(ctx, commits)
	}
	h.putOfPull(pull.Number, func(ctx context.Context, tx *store.Tx, id int64) error {
		end.PullID = id
		return tx.PutPullEnd(ctx, end)
	})
	return nil
}

func (h *reading) countHuman(ctx context.Context, commits []work.Commit) (all, human int) {
	known := stored(ctx, h, func(ctx context.Context, tx *store.Tx) (map[string]bool, error) {
		known := map[string]bool{}
		for _, c := range commits {
			var err error
			if known[c.OID], err = tx.HasTurnCommit(ctx, h.row.ID, c.OID); err != nil {
				return nil, err
			}
		}
		return known, nil
	})
	us := h.env.Accounts.Operators(h.repo.Name.Host)
	made := work.Authorship{Ours: func(id int64) bool { return slices.Contains(us, id) }, Known: func(oid string) bool { return known[oid] }}
	for _, c := range commits {
		if !made.ByUs(c) {
			human++
		}
	}
	return len(commits), human
}
