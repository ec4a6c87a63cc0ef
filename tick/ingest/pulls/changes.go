package pulls

import (
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
)

// Pulls takes in what became of pull requests.
type Pulls struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
	rotated  bool // in this pass

	Look *pulse.Look // how the repository is read as one of many; nil: as one of a few
}

// New takes changes of pull requests into a batch.
func New(b *batch.Batch, people *batch.People, said *comments.Comments) *Pulls {
	return &Pulls{Batch: b, people: people, comments: said}
}
