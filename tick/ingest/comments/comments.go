package comments

import "github.com/mergexo/gh-mergexo/tick/ingest/batch"

// Comments takes in what people wrote.
type Comments struct {
	*batch.Batch
	people *batch.People
}

func New(b *batch.Batch, people *batch.People) *Comments { return &Comments{b, people} }
