package env

import (
	"context"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// SpeaksFor returns the reviewer in whose name an action is sent; empty: it is ours.
func SpeaksFor(a work.Action) string {
	switch a.Kind { //nolint:exhaustive // all else is ours
	case work.ActionReview:
		return a.Target
	case work.ActionDismiss:
		return a.Base
	}
	return ""
}

// ScopeFor returns the scope with which an action is sent: a reviewer's action as that reviewer,
// any other as ourselves. author is the pull request's. The speaker tells what a refusal means; it
// is zero for actions of ours.
func (p Speakers) ScopeFor(ctx context.Context, s actions.Scope, r *Repo, a work.Action, author work.Account) (actions.Scope, Speaker, error) {
	name := SpeaksFor(a)
	if name == "" {
		return s, Speaker{}, nil
	}
	speaker, err := p.Of(ctx, r, name)
	if err != nil {
		return s, speaker, err
	}
	s.GitHub, s.Accounts = speaker.GitHub, p.Accounts.Writers(r.Name.Host)
	// Under the operator's account a reviewer neither approves nor requests changes: people would
	// take that for the operator's own review.
	s.Event = review.VoiceOf(author.ID, speaker.Who.ID, speaker.MayApprove && speaker.account != "", review.Decision(a.Title)).Event
	return s, speaker, nil
}
