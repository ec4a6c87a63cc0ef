package agentrun

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// askedOf is what the answer of a turn may speak about, and what it must: what its agent
// was told, whatever became of that since.
func askedOf(t work.Turn) (prompts.Asked, error) {
	var req env.Request
	if err := json.Unmarshal(t.Request, &req); err != nil {
		return prompts.Asked{}, fmt.Errorf("decode the stored prompt: %w", err)
	}
	return prompts.AskedOf(t.Kind, req.Context), nil
}

// StoredAnswer reads the answer of a turn that was accepted before: the same rules hold
// for it as then.
func StoredAnswer(t work.Turn) (prompts.Answer, error) {
	asked, err := askedOf(t)
	if err != nil {
		return prompts.Answer{}, err
	}
	asked.Unanswered = nil
	a, violations := prompts.Decode(t.Kind, t.Answer, asked)
	if len(violations) > 0 {
		return prompts.Answer{}, fmt.Errorf("decode the stored answer: %s", violations[0])
	}
	return a, nil
}

// reviewedLines are the lines that the pull request's difference shows: on others GitHub
// takes no comment.
func (p *Runner) reviewedLines(ctx context.Context, l *env.Lease) (git.Lines, error) {
	m := l.Repo.Git()
	base, ok, err := m.MergeBase(ctx, l.Turn.Base, l.Turn.Head)
	if err != nil || !ok {
		return nil, err
	}
	return m.DiffLines(ctx, base, l.Turn.Head)
}
