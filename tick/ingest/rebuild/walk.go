package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// The open pull requests are walked page by page, oldest first, and each page is a slice of
// its own. What is stored with it vouches for all up to there: each is tracked, or none of
// ours, or in the backlog, for it alone could not be read. One that is tracked costs
// nothing when it is met again.

// through stands for the walk once it is at its end.
const through = "done"

// place is how far the walk came.
type place struct {
	After string `json:"after"` // what the next page is asked for by
	Seen  int    `json:"seen"`  // how many there were so far
	All   int    `json:"all"`   // how many are open
}

func placeOf(stored string) (p place) {
	if stored == "" || json.Unmarshal([]byte(stored), &p) != nil {
		return place{}
	}
	return p
}

func (p place) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // three plain fields
	}
	return string(text)
}

// Done reports whether all open pull requests were looked at.
func (h *Rebuild) Done() bool { return h.Known.Cuts[batch.WalkAdopted] == through }

// List reads the next page of the open pull requests, and of which repository it is.
func (h *Rebuild) List(ctx context.Context) (err error) {
	h.Adopting, h.slowest = true, 0
	h.at = placeOf(h.Known.Cuts[batch.WalkAdopted])
	h.page, err = h.R.Adoption.OpenPage(ctx, h.Repo.Current, h.at.After)
	if e, refused := errors.AsType[*github.Error](err); refused && h.at.After != "" && strings.Contains(e.Type, "CURSOR") {
		h.at = place{} // GitHub does not know its own mark any more: what is tracked costs nothing
		h.page, err = h.R.Adoption.OpenPage(ctx, h.Repo.Current, "")
	}
	if err != nil {
		h.page = adoption.Page{}
		return err
	}
	h.Swept(h.page.Repo)
	return nil
}

// pass has the walk go on behind the page, once it is stored.
func (h *Rebuild) pass() {
	next := through
	h.at = place{After: h.page.Next, Seen: h.at.Seen + len(h.page.Pulls), All: h.page.All}
	if h.page.Next != "" {
		next = h.at.String()
	}
	h.Walked(batch.WalkAdopted, nil, map[string]string{batch.WalkAdopted: next})
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
	delete(h.Walks, batch.WalkAdopted)
	clear(h.Backlog)
	if h.pages == 0 && len(h.PullRows) == 0 && h.slowest != 0 && errors.Is(h.Incomplete, context.DeadlineExceeded) {
		h.Backlog[h.slowest] = true
	}
}

// Progress is how far the walk came, for people.
func (h *Rebuild) Progress() string {
	p := placeOf(h.Known.Cuts[batch.WalkAdopted])
	if p.After == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d open pull requests are read again after the database was lost", p.Seen, p.All)
}
