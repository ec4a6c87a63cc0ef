package actions

import (
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// posted is one comment that carries an action's token under our account.
type posted struct {
	id   int64
	url  string
	body string
}

// sightOf settles which of several copies counts: the first. Further ones are
// ours to remove only if their text is what we sent, and only as many as we
// sent; any other copy is a person's paste. With the count lost, none is.
func sightOf(a work.Action, found []posted) (sight, bool) {
	if len(found) == 0 {
		return sight{}, false
	}
	slices.SortFunc(found, func(x, y posted) int { return int(min(max(x.id-y.id, -1), 1)) })
	s := sight{id: strconv.FormatInt(found[0].id, 10), url: found[0].url}
	sent := 0
	for i, p := range found {
		if !sameBody(p.body, a.Body) {
			continue
		}
		sent++
		if i > 0 && sent <= a.Sends {
			s.extra = append(s.extra, p.id)
		}
	}
	return s, true
}

// Duplicate reports whether a comment that carries the token of an applied
// action is a late second copy of our own.
func Duplicate(a work.Action, commentID int64, body string) bool {
	id := strconv.FormatInt(commentID, 10)
	return a.State == work.ActionApplied && a.Sends > 1 && a.ResultID != "" && a.ResultID != id && sameBody(body, a.Body)
}

// Removal plans the removal of a second copy of a comment of ours.
func Removal(repo work.Repo, a work.Action, commentID int64, now time.Time) work.Action {
	on := work.EventIssue
	if a.Kind == work.ActionReply {
		on = work.EventReview
	}
	id := strconv.FormatInt(commentID, 10)
	return work.Action{
		RepoID: repo.ID, ItemID: a.ItemID, Kind: work.ActionRemove, Need: work.NeedRequired,
		Token: work.RemoveToken(repo.Name, on, id), State: work.ActionPlanned,
		Number: a.Number, Target: id, On: on, PlannedAt: now,
		Why: "a second copy of our own comment",
	}
}

func sameBody(x, y string) bool { return work.Normalise(x) == work.Normalise(y) }
