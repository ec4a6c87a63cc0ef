package brief

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Briefs tells agents about their turns.
type Briefs struct {
	*env.Env
	may func(context.Context, *env.Repo, work.Account) (bool, error) // whether somebody may give commands
}

// New makes Briefs; may reports whether somebody may give commands in a repository.
func New(e *env.Env, may func(context.Context, *env.Repo, work.Account) (bool, error)) *Briefs {
	return &Briefs{e, may}
}
