package actions

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// DismissCopy is the Title of a dismissal by which a second copy of a review of ours is
// taken back: its comments on lines are removed, for GitHub removes no review.
const DismissCopy = "copy"

// copyNote is what a second copy says.
const copyNote = "> This is a second copy of a review, and counts for nothing."

// Dismissal plans that a review of ours is taken back, in the name of who gave it, with
// a note of why.
func Dismissal(repo work.Repo, posted work.Action, reviewID int64, how, note string, now time.Time) work.Action {
	return work.Action{
		RepoID: repo.ID, ItemID: posted.ItemID, Kind: work.ActionDismiss, Need: work.NeedRequired,
		Token: work.DismissToken(repo.Key(), posted.Number, reviewID), State: work.ActionPlanned, Number: posted.Number,
		Target: strconv.FormatInt(reviewID, 10), Base: posted.Target, Head: posted.Head, Title: how, Body: note, PlannedAt: now,
		Why: "a review of ours that does not count",
	}
}

// dismissal takes a review of ours back: it counts for nothing any more, and says so.
// Target is the review, Body what it says from then on above its text. Whether it may
// be dismissed is the repository's to say; then the note alone tells it.
type dismissal struct{ it github.Review }

func (e *dismissal) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.Reviews(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	at := slices.IndexFunc(all, func(r github.Review) bool { return strconv.FormatInt(r.ID, 10) == a.Target })
	if at < 0 {
		return observation{}, false, nil // do asks for it by its number
	}
	e.it = all[at]
	seen := observation{id: a.Target, url: e.it.URL}
	return seen, !counts(e.it.State) && hasNote(e.it.Body, a.Body), nil
}

func (e *dismissal) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	id, err := strconv.ParseInt(a.Target, 10, 64)
	if err != nil {
		return observation{}, fmt.Errorf("read the target of a dismissal: %w", err)
	}
	seen := observation{id: a.Target, url: e.it.URL}
	if e.it.ID == 0 { // the list does not show it yet
		return seen, &work.WaitError{Until: a.SentAt.Add(draftPause), Reason: work.Reason{Kind: work.WhyUnclearWrite, Text: "a review of ours is not listed yet"}}
	}
	if a.Title == DismissCopy {
		if err := e.removeRemarks(ctx, s, a); err != nil {
			return seen, err
		}
	}
	if !hasNote(e.it.Body, a.Body) {
		// A text that fills what GitHub takes has no room for the note.
		if _, err := s.GitHub.EditReview(ctx, s.Repo.Current, a.Number, id, noted(e.it.Body, a.Body)); err != nil && !github.IsStatus(err, 422) {
			return seen, err
		}
	}
	if !counts(e.it.State) {
		return seen, nil
	}
	_, err = s.GitHub.DismissReview(ctx, s.Repo.Current, a.Number, id, a.Body)
	if github.IsStatus(err, 403, 404, 422) { // not ours to dismiss, on a protected branch
		err = nil
	}
	return seen, err
}

// removeRemarks deletes the comments of a second copy.
func (e *dismissal) removeRemarks(ctx context.Context, s Scope, a work.Action) error {
	all, err := s.GitHub.CommentsOfReview(ctx, s.Repo.Current, a.Number, e.it.ID)
	if err != nil {
		return err
	}
	for _, c := range all {
		if !work.Ours(c.Body, c.Author, s.Accounts) {
			continue
		}
		if err := s.GitHub.DeleteReviewComment(ctx, s.Repo.Current, c.ID); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}
