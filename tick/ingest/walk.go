package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
)

// lists are what is walked of a repository.
type lists struct {
	issues   []*batch.Walk[github.Issue] // all that change; then, once for each label, what is open and carries it
	comments *batch.Walk[github.Comment]
	reviews  *batch.Walk[github.ReviewComment]
}

func (h *Reading) walks() lists {
	changed := func(i github.Issue) time.Time { return i.UpdatedAt }
	return lists{
		issues:   []*batch.Walk[github.Issue]{{Name: batch.WalkIssues, Address: github.IssuesURL, List: h.R.GitHub.ListIssues, Since: &h.Repo.IssuesSince, Updated: changed}},
		comments: &batch.Walk[github.Comment]{Name: batch.WalkComments, Address: github.CommentsURL, List: h.R.GitHub.ListComments, Since: &h.Repo.CommentsSince, Updated: func(c github.Comment) time.Time { return c.UpdatedAt }},
		reviews:  &batch.Walk[github.ReviewComment]{Name: batch.WalkReviewComments, Address: github.ReviewCommentsURL, List: h.R.GitHub.ListReviewComments, Since: &h.Repo.ReviewCommentsSince, Updated: func(c github.ReviewComment) time.Time { return c.UpdatedAt }},
	}
}

// labelWalks adds the first sight of labels, which reads what is open and carries one
// already: the other walks only show what changes from now on.
func (h *Reading) labelWalks() {
	for _, label := range batch.Sighted(h.R.Settings) {
		if slices.Contains(h.Known.Labels, label) {
			continue
		}
		address := func(repo work.RepoName, since time.Time) string {
			return github.LabelledIssuesURL(repo, label, since)
		}
		w := &batch.Walk[github.Issue]{Name: batch.WalkLabel + label, Address: address, List: h.R.GitHub.ListIssues, Updated: func(i github.Issue) time.Time { return i.UpdatedAt }}
		h.lists.issues = append(h.lists.issues, w)
	}
}

// fetch reads side by side what every pass reads, so that an idle pass takes
// one round trip. Of many repositories the light queries go out together, once their lists
// say which pull requests they are about.
func (h *Reading) fetch(ctx context.Context) error {
	l := h.lists
	pages := []func(context.Context) error{h.page(l.issues[0]), h.page(l.comments), h.page(l.reviews)}
	if h.look == nil {
		return sideBySide(ctx, append(pages, h.pulls.SweepPulls)...)
	}
	if err := sideBySide(ctx, pages...); err != nil {
		return err
	}
	return pulls.Shared{Pulls: h.pulls}.Sweep(ctx, h.listed())
}

// listed is what the first pages of the lists show. Where there are more of them, or
// something is left of earlier passes, it may be about any pull request.
func (h *Reading) listed() pulls.Listed {
	l := h.lists
	shown := pulls.Listed{Numbers: map[int]bool{}, Any: !l.issues[0].Over() || !l.comments.Over() || !l.reviews.Over() || len(h.Known.Backlog) > 0}
	for _, is := range l.issues[0].Items() {
		shown.Numbers[is.Number] = true
		if is.IsPull && is.UpdatedAt.After(shown.Newest) {
			shown.Newest = is.UpdatedAt
		}
	}
	for _, c := range l.comments.Items() {
		shown.Numbers[c.Number] = true
	}
	for _, c := range l.reviews.Items() {
		shown.Numbers[c.Pull] = true
	}
	return shown
}

// fetchIssues reads the next page of each list of issues.
func (h *Reading) fetchIssues(ctx context.Context) error {
	reads := make([]func(context.Context) error, len(h.lists.issues))
	for i, w := range h.lists.issues {
		reads[i] = func(ctx context.Context) error {
			if err := w.Fetch(ctx, h.Batch); err != nil {
				return fmt.Errorf("read %q: %w", w.Name, err)
			}
			return nil
		}
	}
	return sideBySide(ctx, reads...)
}

// fetchComments reads the next page of comments and of those on diffs, or only of that
// list which is behind: what people write in both is judged in its order, but for a page.
func (h *Reading) fetchComments(ctx context.Context) error {
	talk, lines := h.lists.comments, h.lists.reviews
	var reads []func(context.Context) error
	if lines.Over() || !talk.At().After(lines.At()) {
		reads = append(reads, h.page(talk))
	}
	if talk.Over() || !lines.At().After(talk.At()) {
		reads = append(reads, h.page(lines))
	}
	return sideBySide(ctx, reads...)
}

// fetcher is a walk whose next page can be read.
type fetcher interface {
	Fetch(context.Context, *batch.Batch) error
}

func (h *Reading) page(w fetcher) func(context.Context) error {
	return func(ctx context.Context) error { return w.Fetch(ctx, h.Batch) }
}

// sideBySide makes reads at the same time.
func sideBySide(ctx context.Context, reads ...func(context.Context) error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read(ctx) })
	}
	wg.Wait()
	return batch.FirstError(errs)
}
