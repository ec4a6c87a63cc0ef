package turn

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// An agent's text appears under the operator's account. The pull request that it opens has a line
// which says so and how to reply to the agent, and so has the first review of somebody else's pull
// request. All other texts of agents and of ourselves have a short one. The line is in the planned
// body above the markers, because the body as planned is what later looks search for.

// Placeholders of the line's template.
const (
	agentWord    = "{agent}"
	operatorWord = "{operator}"
	behalf       = " on behalf of @" + operatorWord
)

// notModel matches what is left out of a model's name: the agent's program says it.
var notModel = lazy.Regexp(`[^A-Za-z0-9._:/-]`)

// called names a turn's agent and its model, a review's by its reviewer, and in whose place it worked.
func called(l *env.Lease) string {
	who := l.Turn.Agent
	if l.Turn.Kind == work.KindReview {
		who = l.Turn.Reviewer
	}
	var more []string
	if model := notModel().ReplaceAllString(l.Model, ""); model != "" {
		more = append(more, model)
	}
	switch {
	case l.Turn.InsteadOf == "":
	case l.Turn.Kind == work.KindReview:
		more = append(more, l.Turn.Agent+" in place of "+l.Turn.InsteadOf)
	default:
		more = append(more, "in place of "+l.Turn.InsteadOf)
	}
	if len(more) > 0 {
		who += fmt.Sprintf(" (%s)", strings.Join(more, ", "))
	}
	return who
}

// sign sets the lines below the texts of a turn's agent.
func (p *runner) sign(ctx context.Context, l *env.Lease) error {
	v, who := l.Repo.Settings.Voice, called(l)
	l.Disclosure, l.Signature = "", v.Signature(who)
	switch {
	case l.Turn.Kind.Start():
		l.Disclosure = disclose(v.Disclosure, who, p.Accounts.Operator(l.Repo.Name.Host))
	case l.Item.Flow == work.FlowReview:
		template := v.Disclosure
		if template == config.DefaultDisclosure {
			template = config.DisclosureAside // comments there get no answer
		}
		known, err := p.reviewed(ctx, l)
		if err != nil || known {
			return err
		}
		l.Disclosure = disclose(template, who, p.Accounts.Operator(l.Repo.Name.Host))
	}
	return nil
}

// reviewed reports whether a reviewer reviewed the pull request before.
func (p *runner) reviewed(ctx context.Context, l *env.Lease) (yes bool, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		pull, ok, err := tx.FindPullOfItem(ctx, l.Item.ID)
		if err != nil || !ok {
			return err
		}
		r, err := tx.GetReviews(ctx, pull.ID)
		yes = len(r.Verdicts) > 0
		return err
	})
	return yes, err
}

// disclose fills the template. It omits an operator that cannot be mentioned, such as an app
// installation.
func disclose(template, agent, operator string) string {
	if operator == "" {
		template = strings.ReplaceAll(template, behalf, "")
		template = strings.ReplaceAll(template, "@"+operatorWord, operatorWord)
		operator = "its operator"
	}
	return strings.NewReplacer(agentWord, agent, operatorWord, operator).Replace(template)
}
