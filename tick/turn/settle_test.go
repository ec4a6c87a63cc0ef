package turn

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// GitHub shows why a turn waits, but no details of this machine's network.
func TestAWaitForTheNetworkNamesNoProxyOnGitHub(t *testing.T) {
	v := classify(&git.NetworkError{Op: "fetch", Detail: "Could not resolve proxy: proxy.corp"}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Minute)
	w := explain.Reason(v.why, explain.Place{})
	if w.What == "" || strings.Contains(w.What+w.Next(), "proxy") || !strings.Contains(w.Here(), "proxy.corp") {
		t.Errorf("%+v", w)
	}
}

// What a turn's error stores depends on its kind and on whether an effect may be on GitHub.
func TestWhatAnErrorStores(t *testing.T) {
	p := &Turns{Env: &env.Env{Config: &config.Config{}}}
	asks := &work.BlockedError{Reason: work.Reason{Kind: work.WhyQuestion}}
	broke := errors.New("broke")
	reviewed := facts{pull: work.PullRequest{ID: 7}}
	begun := facts{begun: true}
	waited := facts{followup: work.Followup{ItemID: 5}}
	for _, c := range []struct {
		turn work.Turn
		err  error
		read facts
		want string
	}{
		{work.Turn{Kind: work.KindBugfixStart}, broke, facts{}, "DeferTurn, Failure"},
		{work.Turn{Kind: work.KindBugfixStart}, &work.WaitError{}, begun, "DeferTurn"},
		{work.Turn{Kind: work.KindBugfixStart}, asks, facts{}, "Failure, EndTurn failed, AwaitComment, Move awaiting_issue_followup"},
		{work.Turn{Kind: work.KindBugfixStart}, asks, begun, "Failure, BlockTurn, Move blocked"},
		{work.Turn{Kind: work.KindBugfixStart}, &work.CancelledError{}, facts{}, "EndTurn cancelled, Move closed"},
		{work.Turn{Kind: work.KindBugfixStart}, &work.CancelledError{}, begun, "EndTurn done, Move pending"},
		{work.Turn{Kind: work.KindBugfixStart}, &work.SupersededError{}, facts{}, "EndTurn superseded, Move pending"},
		{work.Turn{Kind: work.KindBugfixStart}, &work.SupersededError{}, waited, "EndTurn superseded, Move awaiting_issue_followup"},
		{work.Turn{Kind: work.KindImplementationStart}, &work.SupersededError{}, facts{}, "EndTurn superseded, Move ready"},
		{work.Turn{Kind: work.KindDesignFeedback}, &work.SupersededError{}, facts{}, "EndTurn superseded, Move awaiting_feedback"},
		{work.Turn{Kind: work.KindDesignFeedback}, &work.SupersededError{}, begun, "Failure, BlockTurn, Move blocked"},
		{work.Turn{Kind: work.KindDesignFeedback}, asks, facts{}, "Failure, EndTurn failed, AfterTurn blocked or awaiting_feedback"},
		{work.Turn{Kind: work.KindDesignFeedback, Step: work.StepAnswered}, &git.RejectedError{}, facts{}, "Failure, BlockTurn, Move blocked"},
		{work.Turn{Kind: work.KindDesignFeedback, Step: work.StepClaimed}, &git.AccessError{}, facts{}, "Failure, EndTurn failed, AfterTurn blocked or awaiting_feedback"},
		{
			work.Turn{Kind: work.KindReview, Reviewer: "quinn", EventKeys: []string{"k"}, Attempts: work.MaxAttempts},
			broke, reviewed,
			"Failure, EndTurn failed, FailReview, Move awaiting_feedback",
		},
	} {
		l := &env.Lease{Turn: c.turn, Item: work.Item{ID: 5}}
		var got []string
		for _, made := range p.settled(l, classify(c.err, c.turn, noon, time.Minute), c.read, c.err) {
			line := change.Kind(made)
			switch made := made.(type) {
			case change.EndTurn:
				line += " " + string(made.To)
			case change.Move:
				line += " " + string(made.To)
			case change.AfterTurn:
				line += " " + string(made.To) + " or " + string(made.Heard.To)
			}
			got = append(got, line)
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s after %T, %+v:\n%s, want\n%s", c.turn.Kind, c.err, c.read.begun, got, c.want)
		}
	}
}
