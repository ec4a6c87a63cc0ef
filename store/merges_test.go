package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// approvedPull is an open pull request whose reviews are done.
func approvedPull(t testing.TB, d *DB, number int) work.PullRequest {
	t.Helper()
	p := newPull(t, d, number)
	update(t, d, func(tx *Tx) error {
		return tx.PutReviewState(t.Context(), review.Record{}, review.Record{PullID: p.ID, State: review.Approved})
	})
	return p
}

// writes tells how many rows a call wrote, and how often it had the pull request decided
// again.
func writes(t testing.TB, d *DB, pullID int64, fn func(*Tx) error) (wrote int64, looks int) {
	t.Helper()
	before := reviewsOf(t, d, pullID).Look
	update(t, d, func(tx *Tx) error {
		from := changedRows(t, tx)
		err := fn(tx)
		wrote = changedRows(t, tx) - from
		return err
	})
	return wrote, reviewsOf(t, d, pullID).Look - before
}

func boxOf(t testing.TB, d *DB, pullID int64) (box merging.Box, ok bool) {
	t.Helper()
	update(t, d, func(tx *Tx) (err error) {
		box, ok, err = tx.GetBox(t.Context(), pullID)
		return err
	})
	return box, ok
}

func fullBox(pass time.Duration) merging.Box {
	return merging.Box{
		At: t0.Add(pass), State: work.PullOpen, Draft: true, Head: "h", Base: "main", BaseTip: "b", Mergeable: "MERGEABLE", Status: "BLOCKED",
		Decision: "REVIEW_REQUIRED", MergedBy: work.Account{ID: 1 << 53, Login: "ann"}, MergeCommit: "m", UpdatedAt: t0, Change: merging.Change{Paths: []string{"a"}}, Threads: 1,
		Reviews:     []merging.Review{{ID: 1<<60 + 1, State: "APPROVED", Head: "h", By: work.Account{ID: 3, Login: "bob", Bot: true}}},
		Checks:      []merging.Check{{Name: "build <x>", State: merging.Green, Required: true}, {Name: "test", State: merging.Red}},
		ChecksKnown: true, Queue: merging.Queue{Required: true, In: true, State: "QUEUED", Position: 2, Group: "g"},
		Rules: merging.Rules{
			Known: true, Checks: []string{"test"}, Strict: true, Approvals: 2, LastPush: true, Threads: true,
			Methods: []merging.Method{merging.Rebase}, Linear: true, Queue: true, Other: []string{"code_scanning"},
		},
		Methods: []merging.Method{merging.Squash, merging.Rebase}, DeleteBranch: true, Permission: "WRITE", Freeze: 9,
	}
}

// A pass that reads what the one before it read writes nothing, and decides nothing again.
func TestABoxThatReadsTheSameCostsNoWrite(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := approvedPull(t, d, 1)
	put := func(box merging.Box) func(*Tx) error {
		return func(tx *Tx) error { return tx.PutBox(ctx, p.ID, box) }
	}
	if _, ok := boxOf(t, d, p.ID); ok {
		t.Error("a box that nobody put")
	}
	swapped := fullBox(time.Hour)
	swapped.Checks[0], swapped.Checks[1] = swapped.Checks[1], swapped.Checks[0]
	red := fullBox(2 * time.Hour)
	red.Checks[0].State = merging.Red
	for what, step := range []struct {
		box   merging.Box
		looks int
		since time.Duration
	}{{fullBox(0), 1, 0}, {fullBox(time.Hour), 0, 0}, {swapped, 0, 0}, {red, 1, 2 * time.Hour}, {red, 0, 2 * time.Hour}, {fullBox(3 * time.Hour), 1, 3 * time.Hour}} {
		order := slices.Clone(step.box.Checks)
		wrote, looks := writes(t, d, p.ID, put(step.box))
		if looks != step.looks || (wrote > 0) != (step.looks > 0) {
			t.Errorf("step %d: %d rows written, decided again %d times", what, wrote, looks)
		}
		equal(t, step.box.Checks, order)
		want := fullBox(step.since)
		want.Checks[0].State = step.box.Checks[slices.IndexFunc(step.box.Checks, func(c merging.Check) bool { return c.Name == "build <x>" })].State
		got, ok := boxOf(t, d, p.ID)
		equal(t, []any{got, ok}, []any{want, true})
	}
	if err := d.Update(ctx, func(tx *Tx) error { return tx.PutBox(ctx, 99, merging.Box{}) }); err == nil {
		t.Error("a box of no pull request")
	}
}

// What another program wrote there, or half of it, is read from GitHub again.
func TestABoxThatCannotBeReadIsNone(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := approvedPull(t, d, 1)
	update(t, d, func(tx *Tx) error { return tx.PutBox(ctx, p.ID, fullBox(0)) })
	for _, text := range []string{"", "{", `{"head": 7}`} {
		if _, err := d.SQL.ExecContext(ctx, `UPDATE pull_reviews SET box = $1`, text); err != nil {
			t.Fatal(err)
		}
		got, ok := boxOf(t, d, p.ID)
		equal(t, []any{got, ok}, []any{merging.Box{}, false})
	}
	update(t, d, func(tx *Tx) error { return tx.PutBox(ctx, p.ID, fullBox(time.Hour)) })
	got, ok := boxOf(t, d, p.ID)
	equal(t, []any{got, ok}, []any{fullBox(time.Hour), true})
}

func TestMergeWords(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := approvedPull(t, d, 1)
	var w merging.MergeApproval
	fill(t, &w)
	w.PullID, w.Head, w.CommentID = p.ID, "h", 7
	other, typed := w, w
	other.Head, other.At = "h2", t0
	typed.CommentID, typed.At, typed.URL = -1, t0.Add(-time.Hour), ""
	for _, step := range []struct {
		word  merging.MergeApproval
		added bool
	}{{w, true}, {w, false}, {other, true}, {typed, true}, {typed, false}} {
		var added bool
		_, looks := writes(t, d, p.ID, func(tx *Tx) (err error) {
			added, err = tx.AddMergeApproval(ctx, step.word)
			return err
		})
		equal(t, []any{added, looks == 1}, []any{step.added, step.added})
	}
	equal(t, inTx(t, d, func(tx *Tx) ([]merging.MergeApproval, error) { return tx.ListMergeApprovals(ctx, p.ID) }), []merging.MergeApproval{typed, other, w})
}

// Trouble is of one head, the last one, until it is lifted.
func TestMergeTrouble(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := approvedPull(t, d, 1)
	why := work.Reason{Kind: work.WhyMergePermission, Text: "GitHub says no", Names: []string{"a"}}
	other := why
	other.Count = 2
	for i, step := range []struct {
		head     string
		why      work.Reason
		looks    int
		wantHead string
		want     work.Reason
	}{
		{"", work.Reason{}, 0, "", work.Reason{}},
		{"h", why, 1, "h", why},
		{"h", why, 0, "h", why},
		{"h", other, 1, "h", other},
		{"h2", other, 1, "h2", other},
		{"h", work.Reason{}, 0, "h2", other}, // of a head that is not the one
		{"h2", work.Reason{}, 1, "", work.Reason{}},
		{"h2", work.Reason{}, 0, "", work.Reason{}},
		{"h3", why, 1, "h3", why},
		{"", work.Reason{}, 1, "", work.Reason{}},
	} {
		wrote, looks := writes(t, d, p.ID, func(tx *Tx) error { return tx.SetMergeTrouble(ctx, p.ID, step.head, step.why) })
		if looks != step.looks || (wrote > 0) != (looks > 0) {
			t.Errorf("step %d: %d rows written, decided again %d times", i, wrote, looks)
		}
		update(t, d, func(tx *Tx) error {
			head, got, err := tx.GetMergeTrouble(ctx, p.ID)
			equal(t, []any{head, got}, []any{step.wantHead, step.want})
			return err
		})
	}
}

// newMerge is a merge that is meant.
func newMerge(p work.PullRequest) merging.Merge {
	return merging.Merge{
		RepoID: p.RepoID, PullID: p.ID, ItemID: p.ItemID, Number: p.Number, Head: p.HeadOID, Base: "main", BaseOID: "b", Tree: "t",
		Method: merging.Squash, Stage: merging.Intended, At: t0,
	}
}

func putMerge(t testing.TB, d *DB, m merging.Merge) int64 {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (int64, error) { return tx.PutMerge(t.Context(), m) })
}

func mergeOf(t testing.TB, d *DB, p work.PullRequest) merging.Merge {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (merging.Merge, error) {
		m, ok, err := tx.FindMerge(t.Context(), p.ID, p.HeadOID)
		if !ok {
			t.Error("no merge")
		}
		return m, err
	})
}

func landMerge(t testing.TB, d *DB, m merging.Merge) (halted bool) {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (bool, error) {
		return tx.LandMerge(t.Context(), m, work.Reason{Kind: work.WhyMergeDiffers, Text: m.Differs})
	})
}

func TestMergeKeepsEveryField(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := approvedPull(t, d, 1)
	update(t, d, func(tx *Tx) error {
		_, ok, err := tx.FindMerge(ctx, p.ID, "h")
		equal(t, ok, false)
		return err
	})
	var want merging.Merge
	fill(t, &want)
	want.RepoID, want.PullID, want.ItemID, want.Head, want.Stage = p.RepoID, p.ID, p.ItemID, p.HeadOID, merging.Queued
	want.ID = putMerge(t, d, want)
	meant := want // what landed is stored when it has
	meant.Parent, meant.Landed, meant.Differs, meant.LandedAt = "", "", "", time.Time{}
	equal(t, mergeOf(t, d, p), meant)

	if _, looks := writes(t, d, p.ID, func(tx *Tx) error { return second(tx.LandMerge(ctx, want, work.Reason{Kind: work.WhyMergeDiffers})) }); looks != 1 {
		t.Errorf("what has landed is decided again %d times", looks)
	}
	want.Stage = merging.Landed
	equal(t, mergeOf(t, d, p), want)
	if err := d.Update(ctx, func(tx *Tx) error { _, err := tx.PutMerge(ctx, merging.Merge{PullID: 99}); return err }); err == nil {
		t.Error("a merge of no pull request")
	}
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { _, err := tx.LandMerge(ctx, merging.Merge{ID: 99}, work.Reason{}); return err })
}

// What has landed is never meant again, nor is what is half done; what came to nothing is.
func TestAMergeIsMeantAgainOnlyWhereNothingCameOfIt(t *testing.T) {
	stages := []merging.Stage{merging.Intended, merging.Queued, merging.Half, merging.Void}
	for _, from := range append(stages, merging.Landed) {
		for _, to := range stages {
			t.Run(fmt.Sprintf("from %s to %s", from, to), func(t *testing.T) {
				d, ctx := newDB(t), t.Context()
				p := approvedPull(t, d, 1)
				m := newMerge(p)
				if from != merging.Landed {
					m.Stage = from
				}
				m.ID = putMerge(t, d, m)
				if from == merging.Landed {
					landMerge(t, d, m)
				}
				before := mergeOf(t, d, p)
				next := before
				next.Stage, next.BaseOID, next.Tree, next.Method, next.Commit, next.At = to, "b2", "t2", merging.Rebase, "c", t0.Add(time.Hour)
				if from == merging.Landed || from == merging.Half && to != merging.Half && to != merging.Void {
					wantErr(t, d, ErrStale, func(tx *Tx) error { _, err := tx.PutMerge(ctx, next); return err })
					equal(t, mergeOf(t, d, p), before)
					return
				}
				_, looks := writes(t, d, p.ID, func(tx *Tx) error { return second(tx.PutMerge(ctx, next)) })
				equal(t, looks == 1, from != to)
				equal(t, mergeOf(t, d, p), next)
			})
		}
	}
	d, ctx := newDB(t), t.Context()
	m := newMerge(approvedPull(t, d, 1))
	m.Stage = merging.Landed
	if err := d.Update(ctx, func(tx *Tx) error { return second(tx.PutMerge(ctx, m)) }); err == nil {
		t.Error("a merge landed past LandMerge")
	}
}

// Which merges are listed is told by their stages and times.
func TestMergeLists(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	var all []merging.Merge
	for i, stage := range []merging.Stage{merging.Intended, merging.Queued, merging.Half, merging.Void, merging.Landed, merging.Landed, merging.Landed} {
		p := approvedPull(t, d, i+1)
		m := newMerge(p)
		m.At = t0.Add(time.Duration(i) * time.Minute)
		if stage != merging.Landed {
			m.Stage = stage
		}
		m.ID = putMerge(t, d, m)
		if stage == merging.Landed {
			m.LandedAt, m.Commit = t0.Add(-time.Duration(i)*time.Hour), fmt.Sprint("c", i) // the last one first
			landMerge(t, d, m)
		}
		all = append(all, mergeOf(t, d, p))
	}
	repo := all[0].RepoID
	list := func(what string, fn func(*Tx) ([]merging.Merge, error), want ...int) {
		t.Helper()
		var numbers, wanted []int
		for _, m := range inTx(t, d, fn) {
			numbers = append(numbers, m.Number)
			equal(t, m, all[slices.IndexFunc(all, func(x merging.Merge) bool { return x.ID == m.ID })])
		}
		for _, i := range want {
			wanted = append(wanted, all[i].Number)
		}
		if !slices.Equal(numbers, wanted) {
			t.Errorf("%s: %v, want %v", what, numbers, wanted)
		}
	}
	list("since", func(tx *Tx) ([]merging.Merge, error) { return tx.ListMerges(ctx, repo, t0.Add(5*time.Minute)) }, 6, 5)
	list("all", func(tx *Tx) ([]merging.Merge, error) { return tx.ListMerges(ctx, repo, time.Time{}) }, 6, 5, 4, 3, 2, 1, 0)
	list("unsettled", func(tx *Tx) ([]merging.Merge, error) { return tx.ListUnsettledMerges(ctx, repo) }, 0, 1, 2)
	list("of another repository", func(tx *Tx) ([]merging.Merge, error) { return tx.ListUnsettledMerges(ctx, repo+1) })
}

func haltOf(t testing.TB, d *DB, repoID int64) (h merging.Halt, ok bool) {
	t.Helper()
	update(t, d, func(tx *Tx) (err error) {
		h, ok, err = tx.MergingStopped(t.Context(), repoID)
		return err
	})
	return h, ok
}

// One merge that lands as something else may be bad luck. Two in a row stop merging, in the
// transaction that stores the second.
func TestTwoInARowThatDifferStopMerging(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	waits := approvedPull(t, d, 1)
	number := 1
	land := func(differs string) (halted bool) {
		number++
		p := approvedPull(t, d, number)
		m := newMerge(p)
		m.ID = putMerge(t, d, m)
		m.Commit, m.Differs = "c", differs
		halted = landMerge(t, d, m)
		wantErr(t, d, ErrStale, func(tx *Tx) error { return second(tx.LandMerge(ctx, m, work.Reason{Kind: work.WhyMergeDiffers})) })
		return halted
	}
	for i, step := range []struct {
		differs string
		halted  bool
	}{{"a", false}, {"", false}, {"b", false}, {"", false}, {"c", false}, {"d", true}} {
		if halted := land(step.differs); halted != step.halted {
			t.Errorf("step %d: halted %v", i, halted)
		}
		_, ok := haltOf(t, d, waits.RepoID)
		equal(t, ok, step.halted)
	}
	equal(t, land("e"), true) // by way of the queue: the first reason stays
	h, _ := haltOf(t, d, waits.RepoID)
	equal(t, h, merging.Halt{Why: work.Reason{Kind: work.WhyMergeDiffers, Text: "d"}, At: t0})
	equal(t, reviewsOf(t, d, waits.ID).Look, 1)

	for _, first := range []bool{true, false} {
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.MarkHaltReported(ctx, waits.RepoID) }), first)
	}
	h, _ = haltOf(t, d, waits.RepoID)
	equal(t, h.Reported, true)
	for _, first := range []bool{true, false} {
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.ResumeMerging(ctx, waits.RepoID) }), first)
	}
	equal(t, reviewsOf(t, d, waits.ID).Look, 2)
	equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.MarkHaltReported(ctx, waits.RepoID) }), false)
	equal(t, []bool{land("f"), land("g")}, []bool{false, true}) // counted from there
	h, _ = haltOf(t, d, waits.RepoID)
	equal(t, h.Reported, false)
}

func TestStopMerging(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	first, next := work.Reason{Kind: work.WhyMergeDiffers, Text: "first"}, work.Reason{Kind: work.WhyMergeDiffers, Text: "next"}
	for _, why := range []work.Reason{first, next} {
		update(t, d, func(tx *Tx) error { return tx.StopMerging(ctx, r.ID, why) })
	}
	h, ok := haltOf(t, d, r.ID)
	equal(t, []any{h, ok}, []any{merging.Halt{Why: first, At: t0}, true})
	if err := d.Update(ctx, func(tx *Tx) error { return tx.StopMerging(ctx, r.ID, work.Reason{}) }); err == nil {
		t.Error("stopped for no reason")
	}
	update(t, d, func(tx *Tx) error { return second(tx.ResumeMerging(ctx, r.ID)) })
	if _, ok := haltOf(t, d, r.ID+1); ok {
		t.Error("another repository is stopped")
	}
}

// Only what is ours, open and approved may be merged.
func TestListMergeCandidates(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	number, repo := 0, addRepo(t, d).ID
	var want []int
	for what, change := range map[string]func(*work.Item, *work.PullRequest, *review.Record){
		"yes: approved":        func(*work.Item, *work.PullRequest, *review.Record) {},
		"yes: checked":         func(_ *work.Item, _ *work.PullRequest, r *review.Record) { r.State = review.Checking },
		"yes: of a stopped":    func(i *work.Item, _ *work.PullRequest, _ *review.Record) { i.State = work.StateBlocked },
		"somebody else's":      func(i *work.Item, _ *work.PullRequest, _ *review.Record) { i.Flow = work.FlowReview },
		"of no item":           func(_ *work.Item, p *work.PullRequest, _ *review.Record) { p.ItemID = 0 },
		"of a closed item":     func(i *work.Item, _ *work.PullRequest, _ *review.Record) { i.State = work.StateClosed },
		"of a completed item":  func(i *work.Item, _ *work.PullRequest, _ *review.Record) { i.State = work.StateCompleted },
		"merged":               func(_ *work.Item, p *work.PullRequest, _ *review.Record) { p.State = work.PullMerged },
		"closed":               func(_ *work.Item, p *work.PullRequest, _ *review.Record) { p.State = work.PullClosed },
		"waits for reviews":    func(_ *work.Item, _ *work.PullRequest, r *review.Record) { r.State = review.Reviewing },
		"reviewed by nobody":   func(_ *work.Item, _ *work.PullRequest, r *review.Record) { r.State = "" },
		"a person has to look": func(_ *work.Item, _ *work.PullRequest, r *review.Record) { r.State = review.HumanReview },
	} {
		number++
		item := work.Item{RepoID: repo, Number: number, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback}
		pull := work.PullRequest{RepoID: repo, Number: number + 1000, State: work.PullOpen}
		record := review.Record{State: review.Approved}
		pull.ItemID = -1
		change(&item, &pull, &record)
		if id := addItem(t, d, item).ID; pull.ItemID != 0 {
			pull.ItemID = id
		}
		update(t, d, func(tx *Tx) (err error) {
			record.PullID, err = tx.PutPull(ctx, pull)
			if err == nil {
				err = tx.PutReviewState(ctx, review.Record{}, record)
			}
			return err
		})
		if strings.HasPrefix(what, "yes") {
			want = append(want, pull.Number)
		}
	}
	candidates := func() (got []int) {
		for _, p := range inTx(t, d, func(tx *Tx) ([]work.PullRequest, error) { return tx.ListMergeCandidates(ctx, repo) }) {
			got = append(got, p.Number)
		}
		return got
	}
	equal(t, candidates(), want)
	// Another one was opened for the same work: only that may be.
	update(t, d, func(tx *Tx) error {
		old, _, err := tx.GetPull(ctx, repo, want[0])
		return firstOf(err, second(tx.PutPull(ctx, work.PullRequest{RepoID: repo, ItemID: old.ItemID, Number: 2000, State: work.PullOpen})))
	})
	equal(t, candidates(), want[1:])
}

// Who merges is told by the kind alone, here as in work.
func TestMergingActionsAgreeWithWork(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	kinds := []work.ActionKind{
		work.ActionMerge, work.ActionComment, work.ActionEnqueue, work.ActionLabels, work.ActionUpdateBranch, work.ActionSticky,
		work.ActionStatus, work.ActionPullRequest, work.ActionClose, "",
	}
	var notices, merges []string
	for i, kind := range kinds {
		for _, state := range []work.ActionState{work.ActionPlanned, work.ActionSent, work.ActionApplied, work.ActionVoid, work.ActionDropped} {
			token := string(kind) + " " + string(state)
			addAction(t, d, work.Action{RepoID: u.RepoID, Kind: kind, Token: token, State: state, PlannedAt: t0.Add(time.Duration(i) * time.Minute)})
			switch {
			case state.Settled():
			case kind.Merging():
				merges = append(merges, token)
			default:
				notices = append(notices, token)
			}
		}
	}
	addAction(t, d, work.Action{RepoID: u.RepoID, Kind: work.ActionMerge, TurnID: u.ID, Token: "of a turn"})
	tokens := func(list func(*Tx) ([]work.Action, error)) (all []string) {
		for _, a := range inTx(t, d, list) {
			all = append(all, a.Token)
		}
		return all
	}
	equal(t, tokens(func(tx *Tx) ([]work.Action, error) { return tx.ChooseNotices(ctx, u.RepoID, nil) }), notices)
	equal(t, tokens(func(tx *Tx) ([]work.Action, error) { return tx.ListMergingActions(ctx, u.RepoID) }), merges)
	equal(t, len(merges), 6)
}

// An update counts while its pull request is open at the head that came of it.
func TestListUpdates(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	add := func(number int, kind work.ActionKind, state work.ActionState, head string, open work.PullState) {
		addAction(t, d, work.Action{
			RepoID: u.RepoID, Kind: kind, Token: fmt.Sprint("update ", number), State: state, Number: number, ResultID: "new", SentAt: t0.Add(time.Duration(number) * time.Minute),
		})
		update(t, d, func(tx *Tx) error {
			return second(tx.PutPull(ctx, work.PullRequest{RepoID: u.RepoID, Number: number, State: open, HeadOID: head}))
		})
	}
	add(1, work.ActionUpdateBranch, work.ActionApplied, "new", work.PullOpen)
	add(20, work.ActionUpdateBranch, work.ActionApplied, "new", work.PullOpen)
	add(21, work.ActionUpdateBranch, work.ActionApplied, "moved on", work.PullOpen)
	add(22, work.ActionUpdateBranch, work.ActionApplied, "new", work.PullMerged)
	add(23, work.ActionUpdateBranch, work.ActionVoid, "new", work.PullOpen)
	add(24, work.ActionMerge, work.ActionApplied, "new", work.PullOpen)
	var got []int
	for _, a := range inTx(t, d, func(tx *Tx) ([]work.Action, error) { return tx.ListUpdates(ctx, u.RepoID, t0.Add(10*time.Minute)) }) {
		got = append(got, a.Number)
	}
	equal(t, got, []int{20})
}

// A merge that is chosen once more is planned with today's words, unless it may be on
// GitHub.
func TestPlanMerging(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	chosen := work.Action{
		RepoID: u.RepoID, ItemID: u.ItemID, Kind: work.ActionMerge, Token: "merge", Need: work.NeedRequired, Number: 2,
		Target: "squash", Title: "one", Body: "one", Head: "h", Base: "main",
	}
	plan := func(title string) work.Action {
		a := chosen
		a.Title = title
		return inTx(t, d, func(tx *Tx) (work.Action, error) { return tx.PlanMerging(ctx, a) })
	}
	first := plan("one")
	equal(t, []any{first.State, first.Sends, first.Title}, []any{work.ActionPlanned, 0, "one"})
	update(t, d, func(tx *Tx) error { return tx.DeferAction(ctx, first.ID, t0.Add(time.Hour), "busy") })
	wrote, _ := writes(t, d, 1, func(tx *Tx) error { return second(tx.PlanMerging(ctx, chosen)) })
	equal(t, wrote, int64(0))
	later := plan("two")
	equal(t, []any{later.ID, later.Title, later.NotBefore, later.LastError}, []any{first.ID, "two", t0.Add(time.Hour), "busy"})

	update(t, d, func(tx *Tx) error { return tx.MarkSent(ctx, first.ID, t0) })
	equal(t, plan("three"), getAction(t, d, "merge"))
	equal(t, getAction(t, d, "merge").Title, "two")
	for _, settle := range []func(*Tx) error{
		func(tx *Tx) error { return tx.MarkVoid(ctx, first.ID, "", "the head moved", t0) },
		func(tx *Tx) error {
			return firstOf(tx.MarkSent(ctx, first.ID, t0), tx.MarkDropped(ctx, first.ID, "given up", t0))
		},
	} {
		update(t, d, settle)
		again := plan("four")
		equal(t, []any{again.ID, again.State, again.Sends, again.Title, again.NotBefore, again.LastError}, []any{first.ID, work.ActionPlanned, 0, "four", time.Time{}, ""})
	}
	update(t, d, func(tx *Tx) error {
		return firstOf(tx.MarkSent(ctx, first.ID, t0), tx.MarkApplied(ctx, first.ID, "c", "", t0))
	})
	equal(t, plan("five"), getAction(t, d, "merge"))
	equal(t, getAction(t, d, "merge").State, work.ActionApplied)
}
