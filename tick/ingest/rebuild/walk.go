package rebuild

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/internal/work/firstlook"
)

// The open pull requests are walked page by page, oldest first, and each page is a slice of
// its own. What is stored with it vouches for all up to there: each is tracked, or none of
// ours, or in the backlog, for it alone could not be read. One that is tracked costs
// nothing when it is met again.

// Done reports whether all open pull requests were looked at.
func (h *Rebuild) Done() bool { return h.Known.Cuts[firstlook.Walk] == firstlook.Through }

// List reads the next page of the open pull requests, and of which repository it is.
func (h *Rebuild) List(ctx context.Context) (err error) {
	h.Adopting, h.first, h.slowest, h.left = true, 0, 0, map[int]bool{}
	h.at, _ = h.Place()
	h.page, err = h.R.Adoption.OpenPage(ctx, h.Repo.Current, h.at.After)
	if e, refused := errors.AsType[*github.Error](err); refused && h.at.After != "" && strings.Contains(e.Type, "CURSOR") {
		h.at = firstlook.Place{} // GitHub does not know its own mark any more: what is tracked costs nothing
		h.page, err = h.R.Adoption.OpenPage(ctx, h.Repo.Current, "")
	}
	if err != nil {
		h.page = adoption.Page{}
		return err
	}
	for _, p := range h.page.Pulls {
		h.left[p.Number] = true
	}
	h.Swept(h.page.Repo)
	return nil
}

// pass has the walk go on behind the page, once it is stored.
func (h *Rebuild) pass() {
	next := firstlook.Through
	if h.page.Next != "" {
		next = firstlook.Place{After: h.page.Next, Seen: h.at.Seen + len(h.page.Pulls), All: h.page.All}.String()
	}
	h.walk(next)
}

func (h *Rebuild) walk(next string) {
	h.Walked(firstlook.Walk, nil, map[string]string{firstlook.Walk: next})
}

// Vouch decides, once the page is judged, whether the walk resumes behind it. Where there
// was no time for all of it, it is read again in the next pass. One for which the time of
// a whole pass is too short, with nothing found beside it, is for the backlog: it holds up
// no other.
func (h *Rebuild) Vouch() {
	if h.Incomplete == nil {
		h.pages++
		return
	}
	h.stay()
	clear(h.Backlog)
	slowest := cmp.Or(h.slowest, h.first) // what was read of several may hang for any of them
	if h.pages == 0 && len(h.PullRows) == 0 && slowest != 0 && errors.Is(h.Incomplete, context.DeadlineExceeded) {
		h.Backlog[slowest] = true
	}
}

// stay has the walk go on at the page once more. That much of it was looked at is for people.
func (h *Rebuild) stay() {
	delete(h.Walks, firstlook.Walk)
	if len(h.page.Pulls) == 0 {
		return // it was not read
	}
	at := firstlook.Place{After: h.at.After, Seen: h.at.Seen, All: h.page.All}
	for _, p := range h.page.Pulls {
		if !h.left[p.Number] && !h.Forgotten[p.Number] {
			at.Part++
		}
	}
	h.walk(at.String())
}

// Place is how far the walk came, if it is under way.
func (h *Rebuild) Place() (at firstlook.Place, underWay bool) {
	return firstlook.PlaceOf(h.Known.Cuts[firstlook.Walk])
}
