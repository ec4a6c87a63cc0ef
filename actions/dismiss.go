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

// dismissCopy is the Title of the dismissal of a duplicate review. GitHub cannot delete a review,
// so its comments on lines are deleted.
const dismissCopy = "copy"

// copyNote is the note on a duplicate review.
const copyNote = "> This is a second copy of a review, and counts for nothing."

// Dismissal plans the dismissal of our review, by the account that posted it, with a note that says
// why.
func Dismissal(repo work.Repo, posted work.Action, reviewID int64, how, note string, now time.Time) work.Action {
	return work.Action{
		RepoID: repo.ID, ItemID: posted.ItemID, Kind: work.ActionDismiss, Need: work.NeedRequired,
		Token: work.DismissToken(repo.Key(), posted.Number, reviewID), State: work.ActionPlanned, Number: posted.Number,
		Target: strconv.FormatInt(reviewID, 10), Base: posted.Target, Head: posted.Head, Title: how, Body: note, PlannedAt: now,
		Why: "a review of ours that does not count",
	}
}

// dismissal dismisses a review of ours, so that it no longer counts. Target is the review, Body the
// note to put above its text. Whether we may dismiss it depends on the repository; if not, only the
// note is added.
type dismissal struct{ it github.Review }

func (e *dismissal) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.Reviews(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	at := slices.IndexFunc(all, func(r github.Review) bool { return strconv.FormatInt(r.ID, 10) == a.Target })
	if at < 0 {
		return observation{}, false, nil // do gets it by its id
	}
	e.it = all[at]
	seen := observation{id: a.Target, url: e.it.URL}
	return seen, !isDecisive(e.it.State) && hasNote(e.it.Body, a.Body), nil
}

func (e *dismissal) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	id, err := strconv.ParseInt(a.Target, 10, 64)
	if err != nil {
		return observation{}, fmt.Errorf("read the target of a dismissal: %w", err)
	}
	seen := observation{id: a.Target, url: e.it.URL}
	if e.it.ID == 0 { // the list does not show it yet
		return seen, &work.WaitError{Until: a.SentAt.Add(draftPause), Reason: work.Reason{Kind: work.WhyNoAnswer, Text: "a review of ours is not listed yet"}}
	}
	if a.Title == dismissCopy {
		if err := e.removeRemarks(ctx, s, a); err != nil {
			return seen, err
		}
	}
	if !hasNote(e.it.Body, a.Body) {
		// A body of maximum length has no room for the note.
		if _, err := s.GitHub.EditReview(ctx, s.Repo.Current, a.Number, id, noted(e.it.Body, a.Body)); err != nil && !github.IsStatus(err, 422) {
			return seen, err
		}
	}
	if !isDecisive(e.it.State) {
		return seen, nil
	}
	_, err = s.GitHub.DismissReview(ctx, s.Repo.Current, a.Number, id, a.Body)
	if github.IsStatus(err, 403, 404, 422) { // the branch's protection does not let us dismiss it
		err = nil
	}
	return seen, err
}

// removeRemarks deletes the line comments of a duplicate review.
func (e *dismissal) removeRemarks(ctx context.Context, s Scope, a work.Action) error {
	all, err := s.GitHub.CommentsOfReview(ctx, s.Repo.Current, a.Number, e.it.ID)
	if err != nil {
		return err
	}
	for _, c := range all {
		if !work.Ours(c.Body, c.Author, s.Accounts) {
			continue
		}
		if err := s.GitHub.DeleteReviewComment(ctx, s.Repo.Current, c.ID); err != nil && !isNotFound(err) {
			return err
		}
	}
	return nil
}
