package turn

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// reviewParts runs a reviewer once for each part of a large change, each time in a new session and a
// clean checkout, and joins the answers to one verdict. Each answer is stored before the next run
// begins: a pass that is killed in between loses none that was paid for.
func (p *runner) reviewParts(ctx context.Context, l *env.Lease, ag agent.Agent, req env.Request) (prompts.Answer, error) {
	fresh := true // no run left anything in the checkout
	answers := make([]json.RawMessage, len(req.Parts))
	for i := range req.Parts {
		part := &req.Parts[i]
		if part.Answer == nil {
			if !fresh {
				if err := p.restorer.place(ctx, l); err != nil {
					return prompts.Answer{}, fmt.Errorf("restore the checkout: %w", err)
				}
			}
			fresh = false
			p.Changed(l, "reviewing", fmt.Sprintf("part %d of %d", i+1, len(req.Parts)))
			if _, err := p.answer(ctx, l, &talk{p: p, l: l, agent: ag, asked: env.Request{Prompt: part.Prompt, Context: part.Context}}); err != nil {
				return prompts.Answer{}, err
			}
			part.Answer = l.Turn.Answer
			l.Turn.Answer, l.Turn.Session = nil, "" // a session of one part would not know the others
			if err := p.storePart(ctx, l, req); err != nil {
				return prompts.Answer{}, err
			}
		}
		answers[i] = part.Answer
	}
	raw, err := prompts.JoinReviews(answers)
	if err != nil {
		return prompts.Answer{}, err
	}
	l.Turn.Answer, l.Turn.Commit = raw, ""
	return storedAnswer(l.Turn)
}

// storePart stores the answer of a part.
func (p *runner) storePart(ctx context.Context, l *env.Lease, req env.Request) (err error) {
	if l.Turn.Request, err = json.Marshal(req); err != nil {
		return fmt.Errorf("encode the answer of a part: %w", err)
	}
	return p.SaveTurn(context.WithoutCancel(ctx), l) // an agent is paid once
}
