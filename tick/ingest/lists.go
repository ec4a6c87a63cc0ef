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

// lists are what is walked of a repository.
type lists struct {
	issues   []*walk[github.Issue] // all that change; then, once for each label, what is open and carries it
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

// cursors are those of all walks.
func (l lists) cursors() []*cursor {
	all := []*cursor{&l.comments.cursor, &l.reviews.cursor}
	for _, w := range l.issues {
		all = append(all, &w.cursor)
	}
	return all
}

// labelWalks adds the first sight of labels, which reads what is open and carries one
// already: the other walks only show what changes from now on.
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

// fetch reads side by side what every pass reads, so that an idle pass takes
// one round trip. Of many repositories the light queries go out together, once their lists
// say which pull requests they are about.
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

// listed is what the first pages of the lists show. Where there are more of them, or
// something is left of earlier passes, it may be about any pull request.
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

// fetchComments reads the next page of comments and of those on diffs, or only of that
// list which is behind: what people write in both is judged in its order, but for a page.
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

// sideBySide makes reads at the same time.
func sideBySide(ctx context.Context, reads ...func(context.Context) error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read(ctx) })
	}
	wg.Wait()
	return github.FirstError(errs)
}

// storeCursors stores what vouches for what was taken in, and what is left. A
// cursor vouches for its list alone, and never for more of it than was taken in:
// what was listed and could not be taken in is a row of its own.
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
	if err := h.partialLists.keep(ctx, tx); err != nil {
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

// storeWalks stores where walks are resumed.
func (h *reading) storeWalks(ctx context.Context, tx *store.Tx) error {
	places := maps.Clone(h.cuts)
	for _, c := range h.lists.cursors() {
		maps.Copy(places, c.places(h.known.cuts))
	}
	for name, at := range places {
		if at == h.known.cuts[name] {
			continue
		}
		if err := tx.SetWalk(ctx, h.row.ID, name, at); err != nil {
			return err
		}
		h.known.cuts[name] = at
	}
	return nil
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
