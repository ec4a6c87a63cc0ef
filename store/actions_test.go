package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func getAction(t *testing.T, d *DB, token string) work.Action {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Action, error) {
		a, ok, err := tx.GetAction(t.Context(), token)
		if !ok {
			t.Errorf("action %q is not there", token)
		}
		return a, err
	})
}

func TestActionKeepsEveryField(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	var want work.Action
	fill(t, &want)
	want.RepoID, want.TurnID, want.ItemID = u.RepoID, u.ID, u.ItemID
	added := addAction(t, d, want)
	want.ID = added.ID
	equal(t, added, want)
	equal(t, getAction(t, d, want.Token), want)

	bare := addAction(t, d, work.Action{RepoID: u.RepoID, Token: "bare"})
	equal(t, bare, work.Action{ID: bare.ID, RepoID: u.RepoID, Token: "bare", State: work.ActionPlanned, PlannedAt: t0})
	update(t, d, func(tx *Tx) error {
		_, ok, err := tx.GetAction(t.Context(), "unknown")
		equal(t, ok, false)
		return err
	})
	if err := d.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.AddAction(t.Context(), work.Action{RepoID: u.RepoID, TurnID: 99, Token: "of no turn"})
		return err
	}); err == nil {
		t.Error("an action of no turn was added")
	}
}

func TestAddActionByToken(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u, v := newTurn(t, d, 1), newTurn(t, d, 2)
	first := addAction(t, d, work.Action{RepoID: u.RepoID, TurnID: u.ID, ItemID: u.ItemID, Token: "reply", Kind: work.ActionReply, Body: "first", PlannedAt: t0.Add(-time.Hour)})
	update(t, d, func(tx *Tx) error { return tx.DeferAction(ctx, first.ID, t0.Add(time.Hour), "boom") })
	if got := getAction(t, d, "reply"); got.NotBefore != t0.Add(time.Hour) || got.LastError != "boom" {
		t.Errorf("deferred: %+v", got)
	}

	again := work.Action{
		RepoID: u.RepoID, TurnID: v.ID, ItemID: v.ItemID, Position: 3, Kind: work.ActionReply, Need: work.NeedRequired, Token: "reply",
		Number: 2, Target: "t", On: work.EventReview, Title: "ti", Body: "second", Base: "b", Head: "h", Extra: "e", Why: "w",
	}
	want := again
	want.ID, want.State, want.PlannedAt = first.ID, work.ActionPlanned, first.PlannedAt // looked for since it was planned first
	equal(t, addAction(t, d, again), want)

	update(t, d, func(tx *Tx) error { return tx.MarkSent(ctx, first.ID, t0) })
	sent := getAction(t, d, "reply")
	third := again
	third.TurnID, third.Body = u.ID, "third"
	equal(t, addAction(t, d, third), sent) // it may be on GitHub
	update(t, d, func(tx *Tx) error { return tx.MarkVoid(ctx, first.ID, "", "gone", t0) })
	equal(t, addAction(t, d, third), getAction(t, d, "reply"))

	unsent := addAction(t, d, work.Action{RepoID: u.RepoID, Token: "unsent"})
	update(t, d, func(tx *Tx) error { return tx.MarkDropped(ctx, unsent.ID, "given up", t0) })
	if got := addAction(t, d, work.Action{RepoID: u.RepoID, Token: "unsent", Body: "new"}); got.State != work.ActionDropped || got.Body != "" {
		t.Errorf("a settled action was planned again: %+v", got)
	}
}

func TestMarkSentThenApplied(t *testing.T) {
	path := newPath(t)
	d, ctx := openAt(t, path), t.Context()
	a := addAction(t, d, work.Action{RepoID: addRepo(t, d).ID, Token: "a"})
	for want := 1; want <= 3; want++ {
		sends, err := d.sendIn(ctx, a.ID, t0.Add(time.Duration(want)*time.Minute))
		if err != nil || sends != want {
			t.Fatalf("%d sends, %v; want %d", sends, err, want)
		}
		if got := getAction(t, openAt(t, path), "a"); got.Sends != want || got.State != work.ActionSent || got.SentAt != t0.Add(time.Duration(want)*time.Minute) {
			t.Errorf("another handle sees %+v", got)
		}
	}
	update(t, d, func(tx *Tx) error { return tx.DeferAction(ctx, a.ID, t0.Add(time.Hour), "unclear") })
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(ctx, a.ID, "77", "https://x/77", t0.Add(2*time.Hour)) })
	got := getAction(t, d, "a")
	equal(t, []any{got.State, got.ResultID, got.ResultURL, got.SeenAt, got.Sends, got.LastError, got.NotBefore},
		[]any{work.ActionApplied, "77", "https://x/77", t0.Add(2 * time.Hour), 3, "", time.Time{}})

	for what, write := range map[string]func(*Tx) error{
		"sent":     func(tx *Tx) error { return tx.MarkSent(ctx, a.ID, t0) },
		"applied":  func(tx *Tx) error { return tx.MarkApplied(ctx, a.ID, "", "", t0) },
		"void":     func(tx *Tx) error { return tx.MarkVoid(ctx, a.ID, "", "", t0) },
		"dropped":  func(tx *Tx) error { return tx.MarkDropped(ctx, a.ID, "", t0) },
		"deferred": func(tx *Tx) error { return tx.DeferAction(ctx, a.ID, t0, "") },
	} {
		t.Run(what+" after it was applied", func(t *testing.T) { wantErr(t, d, ErrStale, write) })
	}
	equal(t, getAction(t, d, "a"), got)
}

// TestRefusedPushWasNeverSent: a push that the lease refused may be planned
// again, one that was carried out may not.
func TestRefusedPushWasNeverSent(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	push := work.Action{RepoID: u.RepoID, TurnID: u.ID, ItemID: u.ItemID, Token: "push", Kind: work.ActionPush, Head: "old", PlannedAt: t0}
	a := addAction(t, d, push)
	update(t, d, func(tx *Tx) error {
		if err := tx.MarkSent(ctx, a.ID, t0.Add(time.Minute)); err != nil {
			return err
		}
		return tx.MarkUnsent(ctx, a.ID)
	})
	a.SentAt = t0.Add(time.Minute) // when it was tried stays
	equal(t, getAction(t, d, "push"), a)
	push.Head = "new"
	equal(t, addAction(t, d, push).Head, "new")
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(ctx, a.ID, "new", "", t0) })
	if err := d.Update(ctx, func(tx *Tx) error { return tx.MarkUnsent(ctx, a.ID) }); !errors.Is(err, ErrStale) {
		t.Errorf("an applied push became unsent: %v", err)
	}
}

// What waits after a refusal is hastened; what another pass sent or settled meanwhile is
// left alone, and that is no error.
func TestHastenAction(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	until := t0.Add(time.Hour)
	for token, c := range map[string]struct {
		do   func(tx *Tx, id int64) error
		want time.Time
	}{
		"planned": {func(*Tx, int64) error { return nil }, time.Time{}},
		"sent":    {func(tx *Tx, id int64) error { return tx.MarkSent(ctx, id, t0) }, until},
		"settled": {func(tx *Tx, id int64) error { return tx.MarkVoid(ctx, id, "", "gone", t0) }, time.Time{}},
	} {
		a := addAction(t, d, work.Action{RepoID: u.RepoID, ItemID: u.ItemID, Token: token})
		update(t, d, func(tx *Tx) error {
			if err := c.do(tx, a.ID); err != nil || token == "settled" {
				return err
			}
			return tx.DeferAction(ctx, a.ID, until, "busy")
		})
		update(t, d, func(tx *Tx) error { return tx.HastenAction(ctx, a.ID) })
		if now := getAction(t, d, token); !now.NotBefore.Equal(c.want) {
			t.Errorf("%s waits until %s", token, now.NotBefore)
		}
	}
}

func TestVoidTurnActions(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u, v := newTurn(t, d, 1), newTurn(t, d, 2)
	add := func(turn work.Turn, position int, token string) work.Action {
		return addAction(t, d, work.Action{RepoID: turn.RepoID, TurnID: turn.ID, ItemID: turn.ItemID, Position: position, Token: token})
	}
	add(u, 3, "planned")
	sent, applied := add(u, 2, "sent"), add(u, 1, "applied")
	add(v, 1, "another turn's")
	update(t, d, func(tx *Tx) error { return tx.MarkSent(ctx, sent.ID, t0) })
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(ctx, applied.ID, "1", "", t0) })
	update(t, d, func(tx *Tx) error { return tx.VoidTurnActions(ctx, u.ID, "merged", t0) })
	var got []any
	for _, a := range inTx(t, d, func(tx *Tx) ([]work.Action, error) { return tx.ListTurnActions(ctx, u.ID) }) {
		got = append(got, a.Token, a.State, a.LastError)
	}
	equal(t, got, []any{"applied", work.ActionApplied, "", "sent", work.ActionVoid, "merged", "planned", work.ActionVoid, "merged"})
	equal(t, getAction(t, d, "another turn's").State, work.ActionPlanned)
	var tokens []string
	for _, a := range inTx(t, d, func(tx *Tx) ([]work.Action, error) { return tx.ListItemActions(ctx, u.ItemID) }) {
		tokens = append(tokens, a.Token)
	}
	equal(t, tokens, []string{"planned", "sent", "applied"})
}

func TestNoticesAgreeWithWork(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	addAction(t, d, work.Action{RepoID: u.RepoID, TurnID: u.ID, Token: "of a turn"})
	var want []string
	for i, s := range []work.ActionState{work.ActionPlanned, work.ActionSent, work.ActionApplied, work.ActionVoid, work.ActionDropped} {
		addAction(t, d, work.Action{RepoID: u.RepoID, Token: string(s), State: s, PlannedAt: t0.Add(-time.Duration(i) * time.Hour), NotBefore: t0.Add(time.Hour)})
		if !s.Settled() {
			want = append([]string{string(s)}, want...)
		}
	}
	var got []string
	for _, a := range inTx(t, d, func(tx *Tx) ([]work.Action, error) { return tx.ChooseNotices(t.Context(), u.RepoID, nil) }) {
		got = append(got, a.Token)
	}
	equal(t, got, want)
}

// What an action carries beside its text is part of what it is to bring about.
func TestExtraIsRenewed(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	a := addAction(t, d, work.Action{RepoID: u.RepoID, ItemID: u.ItemID, Token: "review", Kind: work.ActionReview, Extra: "one"})
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(ctx, a.ID, "1", "", t0) })
	for _, step := range []struct {
		how   func(*Tx) error
		extra string
		state work.ActionState
	}{
		{func(tx *Tx) error { return tx.RenewAction(ctx, a) }, "one", work.ActionApplied},
		{func(tx *Tx) error { a.Extra = "two"; return tx.RenewAction(ctx, a) }, "two", work.ActionPlanned},
		{func(tx *Tx) error { a.Extra = "three"; return tx.RepeatAction(ctx, a) }, "three", work.ActionPlanned},
	} {
		update(t, d, step.how)
		got := getAction(t, d, "review")
		equal(t, []any{got.Extra, got.State}, []any{step.extra, step.state})
	}
}

// What GitHub limits is counted: whatever makes something that people read.
func TestCountSendsCountsContent(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	count := func() int {
		return inTx(t, d, func(tx *Tx) (int, error) { return tx.CountSends(ctx, t0) })
	}
	for kind, counts := range map[work.ActionKind]bool{
		work.ActionComment: true, work.ActionReply: true, work.ActionPullRequest: true, work.ActionIssue: true, work.ActionSticky: true,
		work.ActionReview: true, work.ActionChild: true, work.ActionEditIssue: true,
		work.ActionBlock: false, work.ActionCloseIssue: false,
		work.ActionPush: false, work.ActionLabels: false, work.ActionStatus: false, work.ActionMerge: false, work.ActionEnqueue: false,
		work.ActionUpdateBranch: false,
	} {
		before := count()
		a := addAction(t, d, work.Action{RepoID: r.ID, Kind: kind, Token: string(kind)})
		update(t, d, func(tx *Tx) error { return tx.MarkSent(ctx, a.ID, t0) })
		if got := count() > before; got != counts {
			t.Errorf("%s is counted: %v", kind, got)
		}
	}
}

// sendIn is Tx.MarkSent in its own transaction. When it returns, the intent is on disk and the
// request may be sent.
func (d *DB) sendIn(ctx context.Context, id int64, at time.Time) (sends int, err error) {
	err = d.Update(ctx, func(tx *Tx) error {
		if err := tx.MarkSent(ctx, id, at); err != nil {
			return err
		}
		sends, _, err = findRow(ctx, tx, "count the sends", scanCount, `SELECT sends FROM actions WHERE id = ?`, id)
		return err
	})
	return sends, err
}
