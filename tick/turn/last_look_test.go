package turn

import (
	"context"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// forgetful is a GitHub that does not find any issue or pull request.
type forgetful struct{ env.GitHub }

func (forgetful) Details(context.Context, []string) ([]github.PullDetail, []string, error) {
	return nil, []string{"P"}, nil
}

func (forgetful) Comment(context.Context, work.RepoName, int64) (github.Comment, bool, error) {
	return github.Comment{}, false, nil
}

func (forgetful) Issue(context.Context, work.RepoName, int) (github.Issue, bool, error) {
	return github.Issue{}, false, nil
}

// TestAPullRequestThatGitHubDoesNotKnowIsTriedAgain: to cancel the turn would void its comments.
func TestAPullRequestThatGitHubDoesNotKnowIsTriedAgain(t *testing.T) {
	p, l := accountant(t, work.Budgets{})
	l.Repo.GitHub = forgetful{}
	err := p.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutPull(t.Context(), work.PullRequest{RepoID: l.Repo.Row.ID, ItemID: l.Item.ID, Number: 8, NodeID: "P", State: work.PullOpen})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.looks.read(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if v := classify(p.looks.checkPull(t.Context(), l, s), l.Turn, noon, time.Minute); v.kind != env.VerdictRetry {
		t.Errorf("the turn ends as %q: %s", v.kind, v.why)
	}
}

// TestAnIssueThatGitHubDoesNotFindIsAskedForAgain: a start turn is cancelled only if a later attempt,
// after settle_after, does not find its issue either.
func TestAnIssueThatGitHubDoesNotFindIsAskedForAgain(t *testing.T) {
	p, l := accountant(t, work.Budgets{})
	l.Repo.GitHub = forgetful{}
	first := work.Reason{Kind: work.WhyNotFound, Number: 7, At: noon.UnixMilli()}
	for name, c := range map[string]struct {
		settle, later time.Duration
		before        work.Reason // why the turn waited before this attempt
		want          env.VerdictKind
		until         time.Duration // since noon
	}{
		"missing for the first time":          {time.Minute, 0, work.Reason{}, env.VerdictWait, time.Minute},
		"without a time to settle":            {0, 0, work.Reason{}, env.VerdictWait, 0},
		"missing before it may be given up":   {time.Minute, time.Second, first, env.VerdictWait, time.Minute},
		"missing again":                       {time.Minute, time.Minute, first, env.VerdictCancelled, 0},
		"missing again, at once":              {0, 0, first, env.VerdictCancelled, 0},
		"missing after a wait for its answer": {time.Minute, time.Hour, work.Reason{Kind: work.WhyNoConnection}, env.VerdictWait, time.Hour + time.Minute},
	} {
		p.Config.Runtime.SettleAfter = c.settle
		p.Now = func() time.Time { return noon.Add(c.later) }
		l.Turn.WaitReason = c.before
		v := classify(p.looks.checkIssue(t.Context(), l, github.Issue{}, false), l.Turn, p.Now(), time.Minute)
		if v.kind != c.want || v.kind == env.VerdictWait && (!v.until.Equal(noon.Add(c.until)) || v.why.Kind != work.WhyNotFound) {
			t.Errorf("%s: the turn ends as %q until %s: %s %s", name, v.kind, v.until, v.why, v.reason)
		}
	}
	l.Item.Label, l.Turn.WaitReason = "agent:bugfix", first
	if err := p.looks.checkIssue(t.Context(), l, github.Issue{State: "open"}, true); err == nil || !l.Turn.WaitReason.None() {
		t.Errorf("an issue that was found: %v; the turn still waits for it: %s", err, l.Turn.WaitReason)
	}
}

// TestAStartReadsItsIssueAgainAfterAMinute: making its checkout may take long, and what it read before
// may be over.
func TestAStartReadsItsIssueAgainAfterAMinute(t *testing.T) {
	p, l := accountant(t, work.Budgets{})
	l.Repo.GitHub = forgetful{}
	l.Issue.Number = 7
	for age, kept := range map[time.Duration]bool{0: true, env.SameFor - 1: true, env.SameFor: false, -env.SameFor: false} {
		l.IssueAt = p.Now().Add(-age)
		if is, found, err := p.looks.issueOf(t.Context(), l); err != nil || found != kept || kept && is.Number != 7 {
			t.Errorf("read %s ago: %v %v %v", age, is.Number, found, err)
		}
	}
	l.IssueAt = time.Time{}
	if _, found, err := p.looks.issueOf(t.Context(), l); err != nil || found {
		t.Errorf("never read: found %v, %v", found, err)
	}
}

// TestACommentThatGitHubDoesNotFindIsAskedForAgain: one answer without a comment, a thread or a review
// is no proof that it was deleted. What is there is answered either way.
func TestACommentThatGitHubDoesNotFindIsAskedForAgain(t *testing.T) {
	p, l := accountant(t, work.Budgets{})
	l.Repo.GitHub = forgetful{}
	p.Config.Runtime.SettleAfter = time.Minute
	there := work.Event{Key: "there", Kind: work.EventReview, Source: "6"}
	d := github.PullDetail{Pull: github.Pull{Number: 8}, Threads: []github.Thread{{Top: 6, Comments: []github.ReviewComment{{ID: 6}}}}}
	for _, kind := range []work.EventKind{work.EventReview, work.EventIssue, work.EventSummary} {
		lost := work.Event{Key: "lost", Kind: kind, Source: "7"}
		l.Turn.WaitReason = work.Reason{}
		for _, step := range []struct {
			later  time.Duration
			events []work.Event
			want   env.VerdictKind
		}{
			{0, []work.Event{lost, there}, env.VerdictWait},
			{time.Second, []work.Event{lost, there}, env.VerdictWait},
			{time.Minute, []work.Event{lost, there}, ""},
			{time.Minute, []work.Event{lost}, env.VerdictCancelled},
			{time.Minute, []work.Event{{Key: "another", Kind: kind, Source: "9"}, there}, env.VerdictWait},
		} {
			p.Now = func() time.Time { return noon.Add(step.later) }
			l.Events = step.events
			err := p.looks.voidGone(t.Context(), l, d, nil)
			if step.want == "" {
				if err != nil {
					t.Errorf("%s after %s: %v", kind, step.later, err)
				}
				continue
			}
			v := classify(err, l.Turn, p.Now(), time.Minute)
			if v.kind != step.want || v.kind == env.VerdictWait && v.why.Kind != work.WhyNotFound {
				t.Errorf("%s after %s: the turn ends as %q: %s %s", kind, step.later, v.kind, v.why, v.reason)
			}
			if v.kind == env.VerdictWait {
				l.Turn.WaitReason = v.why
			}
		}
	}
}
