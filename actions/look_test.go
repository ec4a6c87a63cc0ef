package actions

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// listed is a GitHub and a remote that count what they are asked.
type listed struct {
	Gateway
	Branches
	mu            sync.Mutex
	talks, remote int
}

func (l *listed) CommentsOf(context.Context, work.RepoName, int, time.Time) ([]github.Comment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.talks++
	var all []github.Comment
	for i, token := range []string{"0", "a", "1", "b"} {
		all = append(all, github.Comment{ID: int64(i + 1), Author: work.Account{ID: 9}, Body: work.Mark("Text.", work.Marks{Token: strings.Repeat(token, 64)})})
	}
	return all, nil
}

func (l *listed) RemoteHeads(context.Context, string) (map[string]string, error) {
	l.remote++
	return map[string]string{"b": "a"}, nil
}

func (l *listed) Fetch(context.Context, ...string) error {
	return errors.New("the branch has another commit")
}

// TestLooksShareAListing: looks in one conversation list it once, and each finds its own. What may have
// been sent is left out.
func TestLooksShareAListing(t *testing.T) {
	l := &listed{}
	there := func(token string, number, sends int) work.Action {
		return work.Action{Kind: work.ActionSticky, Token: strings.Repeat(token, 64), Number: number, Sends: sends, State: work.ActionPlanned}
	}
	looks := Look(t.Context(), Scope{GitHub: l, Accounts: []int64{9}}, there("a", 1, 0), there("b", 1, 0), there("c", 2, 0), there("d", 1, 1))
	if len(looks.made) != 3 || l.talks != 2 {
		t.Errorf("%d looks, %d listings of 2 conversations", len(looks.made), l.talks)
	}
	for token, want := range map[string]string{"a": "2", "b": "4", "c": ""} {
		if got := looks.made[strings.Repeat(token, 64)].seen.id; got != want {
			t.Errorf("the look for %s found %s, want %s", token, got, want)
		}
	}
}

// TestWhatMayBeThereIsLookedForAgain: a look from before a push would say that the push never came.
func TestWhatMayBeThereIsLookedForAgain(t *testing.T) {
	l, r := &listed{}, &Runner{}
	push := work.Action{Kind: work.ActionPush, Token: "p", Target: "b", Base: "a", Head: "z", State: work.ActionPlanned}
	s := Scope{GitHub: l, Branches: l}
	s.Looks = Look(t.Context(), s, push)
	asks := func(what string, more int, by func(work.Action) error) {
		t.Helper()
		before := l.remote
		if err := by(push); err != nil || l.remote != before+more {
			t.Errorf("%s: %v, the remote was asked %d times, want %d", what, err, l.remote-before, more)
		}
	}
	watch := func(a work.Action) error { _, err := r.SettleWithoutSend(t.Context(), s, a); return err }
	asks("never sent", 0, watch)
	push.Sends = 1
	asks("sent", 1, watch)
	push.Sends = 0
	asks("refused", 1, func(a work.Action) error { _, err := r.RecordIfSeen(t.Context(), s, a); return err })
}

// TestALookIsOfItsRow: another pass may give a row other content between the look and the send. What the look found
// missing is not what is missing now.
func TestALookIsOfItsRow(t *testing.T) {
	l := &listed{}
	a := work.Action{Kind: work.ActionSticky, Token: strings.Repeat("c", 64), Number: 2, State: work.ActionPlanned}
	s := Scope{GitHub: l, Accounts: []int64{9}}
	s.Looks = Look(t.Context(), s, a)
	e, err := effectOf(a.Kind)
	if err != nil {
		t.Fatal(err)
	}
	before := l.talks
	if s.look(t.Context(), e, a); l.talks != before {
		t.Error("a row that was looked for is looked for again")
	}
	a.Renewals++
	if s.look(t.Context(), e, a); l.talks == before {
		t.Error("a row with other content is taken for the one that was looked for")
	}
}
