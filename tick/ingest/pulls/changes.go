package pulls

import (
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
)

// Pulls takes in what became of pull requests.
type Pulls struct {
	*batch.Batch
	people   *batch.People
	comments *comments.Comments
}

// New takes changes of pull requests into a batch.
func New(b *batch.Batch, people *batch.People, said *comments.Comments) *Pulls {
	return &Pulls{b, people, said}
}
