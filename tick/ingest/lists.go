package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// lists has one walk for each of a repository's listings on GitHub.
type lists struct {
	issues   []*walk // all that change; then, once per label, the open ones with that label
	comments []*walk // what they show becomes events; all are judged together
}

// walks has a row for each list that every pass reads from its oldest change on: the list takes
// since and shows the oldest change first. A list without these is read in readRest.
func (h *reading) walks() lists {
	row, was, hub := &h.row, &h.repo.Row, h.repo.GitHub
	return lists{
		issues: []*walk{{
			h: h, cursor: cursor{name: "issues", since: &row.IssuesSince, was: &was.IssuesSince},
			address: github.IssuesURL, read: itemsOf(hub.ListIssues, listedIssue),
		}},
		comments: []*walk{{
			h: h, cursor: cursor{name: "issues/comments", since: &row.CommentsSince, was: &was.CommentsSince, kinds: []work.EventKind{work.EventIssue, work.EventSource}},
			address: github.CommentsURL, read: itemsOf(hub.ListComments, h.listedComment),
		}, {
			h: h, cursor: cursor{name: "pulls/comments", since: &row.ReviewCommentsSince, was: &was.ReviewCommentsSince, kinds: []work.EventKind{work.EventReview}},
			address: github.ReviewCommentsURL, read: itemsOf(hub.ListReviewComments, h.listedReviewComment),
		}},
	}
}

func listedIssue(is github.Issue) listedItem {
	return listedItem{number: is.Number, changed: is.UpdatedAt, issue: &is}
}

func (l lists) all() []*walk { return slices.Concat(l.issues, l.comments) }

// commentsRead reports whether the lists of comments were ingested to their ends.
func (l lists) commentsRead() bool {
	return !slices.ContainsFunc(l.comments, func(w *walk) bool { return !w.through() })
}

// labelWalks adds a first listing of open issues for each new label: the other walks show only
// later changes.
func (h *reading) labelWalks() {
	for _, label := range h.repo.Settings.StartLabels() {
		if slices.Contains(h.known.labels, label) {
			continue
		}
		address := func(repo work.RepoName, since time.Time) string {
			return github.LabelledIssuesURL(repo, label, since)
		}
		w := &walk{h: h, cursor: cursor{name: walkLabel + label}, address: address, read: itemsOf(h.repo.GitHub.ListIssues, listedIssue)}
		h.lists.issues = append(h.lists.issues, w)
	}
}

// fetch reads side by side what every pass reads, so that an idle pass takes one round trip.
func (h *reading) fetch(ctx context.Context) error {
	var pages []func(context.Context) error
	for _, w := range h.lists.all() {
		pages = append(pages, w.fetch)
	}
	return sideBySide(ctx, append(pages, h.sweepOpen)...)
}

// fetchIssues reads the next page of each list of issues.
func (h *reading) fetchIssues(ctx context.Context) error {
	reads := make([]func(context.Context) error, len(h.lists.issues))
	for i, w := range h.lists.issues {
		reads[i] = func(ctx context.Context) error {
			if err := w.fetch(ctx); err != nil {
				return fmt.Errorf("read %q: %w", w.name, err)
			}
			return nil
		}
	}
	return sideBySide(ctx, reads...)
}

// fetchComments reads the next page of each list of comments, unless another list has been read up
// to an earlier time. So the comments of all lists are judged in order of time, except within a
// page.
func (h *reading) fetchComments(ctx context.Context) error {
	var reads []func(context.Context) error
	for _, w := range h.lists.comments {
		behind := func(o *walk) bool { return !o.over() && w.newest.After(o.newest) }
		if !slices.ContainsFunc(h.lists.comments, behind) {
			reads = append(reads, w.fetch)
		}
	}
	return sideBySide(ctx, reads...)
}

// sideBySide runs reads concurrently.
func sideBySide(ctx context.Context, reads ...func(context.Context) error) error {
	return github.FirstError(runAtOnce(ctx, len(reads), reads))
}

// storeCursors stores the backlog, and the cursors of the lists. A cursor moves only over numbers
// of its own list that were ingested or are rows of the backlog.
func (h *reading) storeCursors(ctx context.Context, tx *store.Tx, now time.Time) error {
	for n, left := range h.backlog {
		put := tx.PutBacklog
		if !left {
			put = func(ctx context.Context, repoID int64, b store.Backlogged) error {
				return tx.DropBacklog(ctx, repoID, b.Number)
			}
		}
		if err := put(ctx, h.row.ID, h.backlogged(n, now)); err != nil {
			return err
		}
	}
	if err := h.storePages(ctx, tx); err != nil {
		return err
	}
	if err := h.storeWalks(ctx, tx); err != nil {
		return err
	}
	for _, l := range h.seenLabels {
		if err := tx.AddSeenLabel(ctx, h.row.ID, l); err != nil {
			return err
		}
	}
	if h.row == h.repo.Row {
		return nil
	}
	return tx.SetCursors(ctx, h.row)
}

// storeWalks stores where walks resume.
func (h *reading) storeWalks(ctx context.Context, tx *store.Tx) error {
	for name, at := range h.walkPlaces() {
		if at == h.known.cuts[name] {
			continue
		}
		if err := tx.SetWalk(ctx, h.row.ID, name, at); err != nil {
			return err
		}
	}
	return nil
}

// walkPlaces returns where walks resume after this slice, by the names under which that is stored.
func (h *reading) walkPlaces() map[string]string {
	places := maps.Clone(h.cuts)
	for _, w := range h.lists.all() {
		places[w.name] = w.place(h.known.cuts)
	}
	return places
}

// storePages stores the ETags of the pages that were read.
func (h *reading) storePages(ctx context.Context, tx *store.Tx) error {
	pages, walks := h.validators, h.lists.all()
	for url := range h.known.pages {
		if !slices.ContainsFunc(walks, func(w *walk) bool { return w.passed(url) }) {
			continue
		}
		if err := tx.DeleteValidators(ctx, h.row.ID, url); err != nil {
			return err
		}
	}
	for _, w := range walks {
		pages = append(pages, w.pages...)
	}
	for _, v := range pages {
		if err := tx.PutValidator(ctx, v); err != nil {
			return err
		}
	}
	return nil
}
