package actions

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// posted is one comment.
type posted struct {
	id     int64
	url    string
	body   string
	author work.Account
	at     time.Time // when GitHub created it
}

// copies finds the comments in a listing that have the action's token and our account.
func copies[T any](s Scope, a work.Action, all []T, read func(T) posted) (observation, bool) {
	var found []posted
	for _, c := range all {
		if p := read(c); isOurs(s, a, p.body, p.author) {
			found = append(found, p)
		}
	}
	return chooseCopy(a, found)
}

// chooseCopy decides which of several copies counts: the first with our text, or the first if
// people edited all of them. Other copies with our text are removed: at most as many as
// we sent, and only those created while we were sending, because a person may have pasted the rest.
// If the number of sends was lost, none is removed.
func chooseCopy(a work.Action, found []posted) (observation, bool) {
	if len(found) == 0 {
		return observation{}, false
	}
	sorted.By(found, func(x, y posted) int { return cmp.Compare(x.id, y.id) })
	var equal []posted
	for _, p := range found {
		if sameBody(p.body, a.Body) {
			equal = append(equal, p)
		}
	}
	first := found[0]
	if len(equal) > 0 {
		first = equal[0]
	}
	s := observation{id: strconv.FormatInt(first.id, 10), url: first.url}
	for i, p := range equal {
		if i > 0 && i < a.Sends && !p.at.After(lastCopy(a, first)) {
			s.extra = append(s.extra, p.id)
		}
	}
	return s, true
}

// arrival is how long after our send GitHub may create a comment: a request ends after 30 seconds,
// answered or not.
const arrival = 2 * time.Minute

// lastCopy returns the latest time at which one of our copies can have been created, on GitHub's
// clock. All our sends lie between the plan and the last send, so the copies are no further apart.
func lastCopy(a work.Action, first posted) time.Time {
	return first.at.Add(max(0, a.SentAt.Sub(a.PlannedAt)) + arrival)
}

// ExtraCopies returns the ids of further copies of our comment. A copy appears if a write was
// applied although its answer was lost, and GitHub's lists did not show it yet when we looked. The
// list may show a copy first that is not the recorded one.
func ExtraCopies(ctx context.Context, s Scope, a work.Action) ([]int64, error) {
	if a.State != work.ActionApplied || sentCopies(a) < 2 {
		return nil, nil
	}
	e, err := effectOf(a.Kind)
	if err != nil {
		return nil, err
	}
	got, _, err := e.find(ctx, s, a)
	if err != nil {
		return nil, fmt.Errorf("look for copies of %s: %w", describe(a), err)
	}
	if a.Kind == work.ActionSticky { // keep the recorded one, because it is edited by its id
		for i, id := range got.extra {
			if first, err := strconv.ParseInt(got.id, 10, 64); err == nil && strconv.FormatInt(id, 10) == a.ResultID {
				got.extra[i] = first
			}
		}
	}
	return got.extra, nil
}

// sentCopies returns how many copies of a comment our sends may have created.
func sentCopies(a work.Action) int {
	if a.Kind == work.ActionSticky {
		return a.Made
	}
	return a.Sends
}

// Removal plans the removal of a duplicate of our comment, by its id, or of a sub-issue, by its
// number. GitHub cannot delete a review, so a
// duplicate review is dismissed. Only an administrator can delete an issue, so a duplicate sub-issue
// is closed.
func Removal(repo work.Repo, a work.Action, commentID int64, now time.Time) work.Action {
	if a.Kind == work.ActionReview {
		return Dismissal(repo, a, commentID, dismissCopy, copyNote, now)
	}
	if a.Kind == work.ActionChild {
		return work.Action{
			RepoID: repo.ID, ItemID: a.ItemID, Kind: work.ActionCloseIssue, Need: work.NeedRequired,
			Token: work.CloseIssueToken(repo.Key(), int(commentID), "copy"), State: work.ActionPlanned,
			Number: int(commentID), Target: work.CloseNotPlanned, PlannedAt: now,
			Why: "a second copy of our own sub-issue",
		}
	}
	on := work.EventIssue
	if a.Kind == work.ActionReply {
		on = work.EventReview
	}
	id := strconv.FormatInt(commentID, 10)
	return work.Action{
		RepoID: repo.ID, ItemID: a.ItemID, Kind: work.ActionRemove, Need: work.NeedRequired,
		Token: work.RemoveToken(repo.Key(), on, id), State: work.ActionPlanned,
		Number: a.Number, Target: id, On: on, PlannedAt: now,
		Why: "a second copy of our own comment",
	}
}

func sameBody(x, y string) bool { return work.Normalise(x) == work.Normalise(y) }
