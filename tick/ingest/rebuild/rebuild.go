// Package rebuild finds again what a lost database knew.
//
// The database is disposable. What it should know stands elsewhere: pull requests carry
// their origin in branch and body, our comments name the events that they answered, and
// the mirror's journal has the turns that were under way. All that is read back when a
// repository is seen for the first time, and again when a turn finds work of ours that
// the database lacks.
package rebuild

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/firstlook"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
)

// Retell takes in what people may change about an issue, as far as it counts since the
// newest setting of a label, and gives its item with that.
type Retell func(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent, label string) (work.Item, error)

// Rebuild finds again what a lost database knew.
type Rebuild struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
	pulls    *pulls.Pulls
	retell   Retell

	at       firstlook.Place // how far the walk over the open pull requests came
	page     adoption.Page   // the one that is taken in
	details  map[int]github.PullDetail
	left     map[int]bool // those on it that were not looked at
	first    int          // the first one on it that may be ours; 0: none
	slowest  int          // the first one on it for which there was no time; 0: none
	pages    int          // that this pass stored
	journals map[int]env.Journal
}

// New finds what a lost database knew again, into a batch.
func New(b *batch.Batch, people *batch.People, c *comments.Comments, p *pulls.Pulls, retell Retell) *Rebuild {
	return &Rebuild{Batch: b, people: people, comments: c, pulls: p, retell: retell}
}
