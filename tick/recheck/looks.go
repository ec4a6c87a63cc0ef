package recheck

import (
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// Looks looks once more, right before an effect, whether it is still wanted.
type Looks struct {
	*env.Env
	reader  *ingest.Reader
	notices *notice.Notices
}

func New(e *env.Env, r *ingest.Reader, n *notice.Notices) *Looks { return &Looks{e, r, n} }
