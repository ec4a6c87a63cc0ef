package ingest

import (
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
	"github.com/mergexo/gh-mergexo/tick/ingest/merges"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
	"github.com/mergexo/gh-mergexo/tick/ingest/rebuild"
)

// Issues takes in what became of issues.
type Issues struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
	pulls    *pulls.Pulls
	rebuild  *rebuild.Rebuild
	queue    queue
	foreseen map[int]bool // those that were asked about in advance
	starts   int          // of them, for how many the first looks of a turn were asked
}

// Reading is one ingest of one repository.
type Reading struct {
	*batch.Batch
	People   *batch.People
	Comments *comments.Comments
	pulls    *pulls.Pulls
	merges   *merges.Merges
	Issues   *Issues
	Rebuild  *rebuild.Rebuild
	ingest   *Ingest
	look     *pulse.Look // how it is read as one of many; nil: as one of a few
	lists    lists
}

func newReading(p *Ingest, r *env.Repo) *Reading {
	b := batch.New(p.Env, p.notices, r)
	h := &Reading{Batch: b, ingest: p, People: batch.NewPeople(b)}
	h.Comments = comments.New(b, h.People)
	h.pulls = pulls.New(b, h.People, h.Comments)
	h.merges = merges.New(b)
	h.Issues = &Issues{Batch: b, people: h.People, comments: h.Comments, pulls: h.pulls, foreseen: map[int]bool{}}
	h.Rebuild = rebuild.New(b, h.People, h.Comments, h.pulls, h.Issues.retell)
	h.Issues.rebuild = h.Rebuild
	return h
}

// lookFor has the repository be read as one of many. What its pulse doubts is found out
// before anything that is read is judged.
func (h *Reading) lookFor(look *pulse.Look) {
	h.look, h.pulls.Look = look, look
	if look != nil {
		h.Another = look.Shown.Doubted
	}
}
