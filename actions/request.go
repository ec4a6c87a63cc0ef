package actions

import (
	"context"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// request requests a person's review of a head. Target is the login, Head the commit, Extra how many
// of their verdicts on it were for another base. It is not sent if the person is already requested
// or has reviewed that head since.
type request struct{}

func (request) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	asked, err := s.GitHub.RequestedReviewers(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	for _, who := range asked {
		if strings.EqualFold(who.Login, a.Target) {
			return observation{}, true, nil
		}
	}
	all, err := s.GitHub.Reviews(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	old, _ := strconv.Atoi(a.Extra)
	for _, r := range all {
		if !strings.EqualFold(r.Author.Login, a.Target) || r.CommitOID != a.Head || r.State == statePending || r.SubmittedAt.IsZero() {
			continue
		}
		switch {
		case old == 0:
			return observation{url: r.URL}, true, nil
		case r.State != stateCommented: // it is a verdict
			old--
		}
	}
	return observation{}, false, nil
}

func (request) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{}, s.GitHub.RequestReviewers(ctx, s.Repo.Current, a.Number, a.Target)
}
