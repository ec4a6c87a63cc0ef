package ingest

import (
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
	"github.com/mergexo/gh-mergexo/tick/ingest/merges"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
)

// Issues takes in what became of issues.
type Issues struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
	rebuild  *Rebuild
}

// Rebuild finds again what a lost database knew.
type Rebuild struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
	pulls    *pulls.Pulls
	issues   *Issues
}

// Reading is one ingest of one repository.
type Reading struct {
	*batch.Batch
	People   *batch.People
	Comments *comments.Comments
	pulls    *pulls.Pulls
	merges   *merges.Merges
	Issues   *Issues
	Rebuild  *Rebuild
	ingest   *Ingest
}

func newReading(p *Ingest, r *env.Repo) *Reading {
	b := batch.New(p.Env, p.notices, r)
	h := &Reading{Batch: b, ingest: p, People: batch.NewPeople(b)}
	h.Comments = comments.New(b, h.People)
	h.pulls = pulls.New(b, h.People, h.Comments)
	h.merges = merges.New(b)
	h.Rebuild = &Rebuild{b, h.People, h.Comments, h.pulls, nil}
	h.Issues = &Issues{b, h.People, h.Comments, h.Rebuild}
	h.Rebuild.issues = h.Issues
	return h
}
