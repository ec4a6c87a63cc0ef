package snapshot

import "github.com/mergexo/gh-mergexo/tick/env"

// Loader reads what a plan may depend on.
type Loader struct{ *env.Env }

func New(e *env.Env) *Loader { return &Loader{e} }
