package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// lists are the walks over a repository's lists.
type lists struct {
	issues   []*walk[github.Issue] // all that change; then, once per label, the open ones with that label
	comments *walk[github.Comment]
	reviews  *walk[github.ReviewComment]
}

func (h *reading) walks() lists {
	row, was, hub := &h.row, &h.repo.Row, h.repo.GitHub
	return lists{
		issues: []*walk[github.Issue]{{
			h: h, cursor: cursor{name: walkIssues, since: &row.IssuesSince, was: &was.IssuesSince},
			address: github.IssuesURL, list: hub.ListIssues, updated: issueUpdated,
		}},
		comments: &walk[github.Comment]{
			h: h, cursor: cursor{name: walkComments, since: &row.CommentsSince, was: &was.CommentsSince},
			address: github.CommentsURL, list: hub.ListComments, updated: func(c github.Comment) time.Time { return c.UpdatedAt },
		},
		reviews: &walk[github.ReviewComment]{
			h: h, cursor: cursor{name: walkReviewComments, since: &row.ReviewCommentsSince, was: &was.ReviewCommentsSince},
			address: github.ReviewCommentsURL, list: hub.ListReviewComments, updated: func(c github.ReviewComment) time.Time { return c.UpdatedAt },
		},
	}
}

func issueUpdated(i github.Issue) time.Time { return i.UpdatedAt }

// cursors returns the cursors of all walks.
func (l lists) cursors() []*cursor {
	all := []*cursor{&l.comments.cursor, &l.reviews.cursor}
	for _, w := range l.issues {
		all = append(all, &w.cursor)
	}
	return all
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
		w := &walk[github.Issue]{h: h, cursor: cursor{name: walkLabel + label}, address: address, list: h.repo.GitHub.ListIssues, updated: issueUpdated}
		h.lists.issues = append(h.lists.issues, w)
	}
}

// fetch reads side by side what every pass reads, so that an idle pass takes one round trip. Of
// many repositories the light queries are sent together, once their lists show which pull requests
// to ask about.
func (h *reading) fetch(ctx context.Context) error {
	l := h.lists
	pages := []func(context.Context) error{l.issues[0].fetch, l.comments.fetch, l.reviews.fetch}
	if h.look == nil {
		return sideBySide(ctx, append(pages, h.sweepOpen)...)
	}
	if err := sideBySide(ctx, pages...); err != nil {
		return err
	}
	return h.sweepShared(ctx, h.listed())
}

// listed returns what the first pages of the lists show. If more pages follow or earlier passes
// left a backlog, any pull request may have changed.
func (h *reading) listed() listedChanges {
	l := h.lists
	shown := listedChanges{numbers: map[int]bool{}, any: !l.issues[0].over() || !l.comments.over() || !l.reviews.over() || len(h.known.backlog) > 0}
	for _, is := range l.issues[0].items() {
		shown.numbers[is.Number] = true
		if is.IsPull && is.UpdatedAt.After(shown.newest) {
			shown.newest = is.UpdatedAt
		}
	}
	for _, c := range l.comments.items() {
		shown.numbers[c.Number] = true
	}
	for _, c := range l.reviews.items() {
		shown.numbers[c.Pull] = true
	}
	return shown
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

// fetchComments reads the next page of the comments and of the diff comments, or only of the list
// that is behind, so that both are judged in order of time, except within a page.
func (h *reading) fetchComments(ctx context.Context) error {
	talk, lines := h.lists.comments, h.lists.reviews
	var reads []func(context.Context) error
	if lines.over() || !talk.at().After(lines.at()) {
		reads = append(reads, talk.fetch)
	}
	if talk.over() || !lines.at().After(talk.at()) {
		reads = append(reads, lines.fetch)
	}
	return sideBySide(ctx, reads...)
}

// sideBySide runs reads concurrently.
func sideBySide(ctx context.Context, reads ...func(context.Context) error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read(ctx) })
	}
	wg.Wait()
	return github.FirstError(errs)
}

// storeCursors stores the cursors for what was taken in, and the backlog. A cursor vouches for its
// own list, and never for more than was taken in: a listed number that was not taken in gets its
// own row.
func (h *reading) storeCursors(ctx context.Context, tx *store.Tx, now time.Time) error {
	for n, left := range h.backlog {
		if !left {
			if err := tx.DropBacklog(ctx, h.row.ID, n); err != nil {
				return err
			}
			continue
		}
		if err := tx.AddBacklog(ctx, h.row.ID, n, now); err != nil {
			return err
		}
	}
	if err := h.storePages(ctx, tx); err != nil {
		return err
	}
	if err := h.storeWalks(ctx, tx); err != nil {
		return err
	}
	if err := h.partialLists.store(ctx, tx); err != nil {
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
	for _, c := range h.lists.cursors() {
		maps.Copy(places, c.places(h.known.cuts))
	}
	return places
}

// storePages stores the ETags of the pages that were read.
func (h *reading) storePages(ctx context.Context, tx *store.Tx) error {
	pages, cursors := h.validators, h.lists.cursors()
	for url := range h.known.pages {
		if !slices.ContainsFunc(cursors, func(c *cursor) bool { return c.passed(url) }) {
			continue
		}
		if err := tx.DeleteValidators(ctx, h.row.ID, url); err != nil {
			return err
		}
	}
	for _, c := range cursors {
		pages = append(pages, c.pages...)
	}
	for _, v := range pages {
		if err := tx.PutValidator(ctx, v); err != nil {
			return err
		}
	}
	return nil
}
