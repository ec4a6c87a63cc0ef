package store

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// newPull is an open pull request of an item of its own.
func newPull(t testing.TB, d *DB, number int) work.PullRequest {
	t.Helper()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: number})
	p := work.PullRequest{RepoID: i.RepoID, ItemID: i.ID, Number: number + 1000, State: work.PullOpen, HeadOID: "h"}
	p.ID = inTx(t, d, func(tx *Tx) (int64, error) { return tx.PutPull(t.Context(), p) })
	return p
}

func reviewsOf(t testing.TB, d *DB, pullID int64) Reviews {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (Reviews, error) { return tx.GetReviews(t.Context(), pullID) })
}

func addVerdict(t testing.TB, d *DB, v review.Verdict) (id int64, added bool) {
	t.Helper()
	update(t, d, func(tx *Tx) (err error) {
		id, added, err = tx.AddVerdict(t.Context(), v)
		return err
	})
	return id, added
}

func TestReviewsKeepEveryField(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p, other := newPull(t, d, 1), newPull(t, d, 2)
	equal(t, reviewsOf(t, d, p.ID), Reviews{Record: review.Record{PullID: p.ID}})

	want := Reviews{LabelHead: "seen", Look: 7}
	fill(t, &want.Record)
	want.Record.PullID, want.Record.Since = p.ID, t0
	want.Held = &review.Held{By: "ann", At: t0}
	var v review.Verdict
	fill(t, &v)
	v.PullID = p.ID
	v.ID, _ = addVerdict(t, d, v)
	var x review.Finding
	fill(t, &x)
	x.PullID, x.VerdictID, x.ResolvedBy = p.ID, v.ID, v.ID
	var f review.Fix
	fill(t, &f)
	f.PullID = p.ID
	var in review.Insertion
	fill(t, &in)
	in.PullID = p.ID
	asked := ReviewRequest{PullID: p.ID, Reviewer: "ann", Head: "h", At: t0.Add(-time.Hour)}
	want.Verdicts, want.Findings, want.Fixes, want.Inserted, want.Requested =
		[]review.Verdict{v}, []review.Finding{x}, []review.Fix{f}, []review.Insertion{in}, []ReviewRequest{asked}
	update(t, d, func(tx *Tx) error {
		_, insertErr := tx.AddInsertion(ctx, in)
		_, askErr := tx.AddRequest(ctx, asked)
		return firstOf(
			insertErr, askErr,
			tx.PutFindings(ctx, want.Findings), tx.PutFix(ctx, f),
			tx.PutReviewState(ctx, review.Record{}, want.Record), tx.FailReview(ctx, want.Record),
			tx.SetHold(ctx, p.ID, *want.Held), tx.SetLabelHead(ctx, p.ID, "seen"), tx.MarkReviewsChanged(ctx, p.ID),
			tx.MarkReviewsDecided(ctx, p.ID, 6, "policy"), // of before MarkReviewsChanged
		)
	})
	want.Policy = "policy"
	equal(t, reviewsOf(t, d, p.ID), want)
	facts := reviewsOf(t, d, p.ID).facts()
	equal(t, []any{facts.Record, facts.Verdicts, facts.Findings, facts.Fixes, facts.Inserted}, []any{want.Record, want.Verdicts, want.Findings, want.Fixes, want.Inserted})
	equal(t, inTx(t, d, func(tx *Tx) ([]review.Verdict, error) { return tx.listVerdicts(ctx, p.ID) }), want.Verdicts)

	both := inTx(t, d, func(tx *Tx) (map[int64]Reviews, error) { return tx.ListReviews(ctx, []int64{other.ID, p.ID}) })
	equal(t, both, map[int64]Reviews{p.ID: want, other.ID: {Record: review.Record{PullID: other.ID}}})
	equal(t, len(inTx(t, d, func(tx *Tx) (map[int64]Reviews, error) { return tx.ListReviews(ctx, nil) })), 0)
	for what, fn := range map[string]func(*Tx) error{
		"verdict": func(tx *Tx) error { _, _, err := tx.AddVerdict(ctx, review.Verdict{PullID: 99}); return err },
		"state":   func(tx *Tx) error { return tx.PutReviewState(ctx, review.Record{}, review.Record{PullID: 99}) },
		"failure": func(tx *Tx) error { return tx.FailReview(ctx, review.Record{PullID: 99}) },
		"look":    func(tx *Tx) error { return tx.MarkReviewsChanged(ctx, 99) },
	} {
		if err := d.Update(ctx, fn); err == nil {
			t.Errorf("%s of no pull request", what)
		}
	}
}

// State moves from where it was read, or not at all: not even to itself.
func TestReviewStateMovesFromWhereItWasRead(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := newPull(t, d, 1)
	first := review.Record{PullID: p.ID, State: review.Reviewing, Head: "h", Reviewer: "quinn", Epoch: 1, Cycle: 1}
	put := func(before, after review.Record) func(*Tx) error {
		return func(tx *Tx) error { return tx.PutReviewState(ctx, before, after) }
	}
	wantErr(t, d, ErrStale, put(first, first))
	update(t, d, put(review.Record{PullID: p.ID}, first))
	wantErr(t, d, ErrStale, put(review.Record{PullID: p.ID}, first))
	for what, other := range map[string]func(*review.Record){
		"state":    func(r *review.Record) { r.State = review.Pending },
		"head":     func(r *review.Record) { r.Head = "h2" },
		"reviewer": func(r *review.Record) { r.Reviewer = "sam" },
		"epoch":    func(r *review.Record) { r.Epoch = 2 },
		"cycle":    func(r *review.Record) { r.Cycle = 2 },
	} {
		moved := first
		other(&moved)
		t.Run(what, func(t *testing.T) { wantErr(t, d, ErrStale, put(moved, first)) })
	}

	d.GoBy(func() time.Time { return t0.Add(time.Hour) })
	next := first
	next.Reviewer = "sam"
	update(t, d, put(first, next))
	equal(t, reviewsOf(t, d, p.ID).Record.Since, t0) // it is the same state
	failed := next
	failed.FailedKey, failed.FailedWhy, failed.Retries, failed.LastError = "k", work.Reason{Kind: work.WhyFailed}, 3, "exit 1"
	update(t, d, func(tx *Tx) error { return tx.FailReview(ctx, failed) })
	stopped := next
	stopped.State, stopped.Why = review.Failed, work.Reason{Kind: work.WhyReviewFailed, Name: "sam"}
	update(t, d, put(next, stopped))
	got := reviewsOf(t, d, p.ID).Record
	equal(t, []any{got.State, got.Since, got.FailedKey, got.LastError}, []any{review.Failed, t0.Add(time.Hour), "k", "exit 1"})
	later := review.Record{PullID: p.ID, State: review.Pending, Epoch: 2}
	update(t, d, put(stopped, later)) // nothing of the failure counts any more
	later.Since = t0.Add(time.Hour)
	equal(t, reviewsOf(t, d, p.ID).Record, later)

	d.GoBy(func() time.Time { return t0.Add(2 * time.Hour) }) // it begins again, and stands where it stood
	again := later
	again.Epoch = 3
	update(t, d, put(later, again))
	equal(t, reviewsOf(t, d, p.ID).Record.Since, t0.Add(2*time.Hour))
	again.Since = t0.Add(2 * time.Hour)
	old := again
	old.State, old.Since = review.Failed, t0 // found again: it is as old as GitHub says
	update(t, d, put(again, old))
	equal(t, reviewsOf(t, d, p.ID).Record.Since, t0)
}

func TestWhatNobodyReviewedIsForgotten(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	none, reviewed := newPull(t, d, 1), newPull(t, d, 2)
	update(t, d, func(tx *Tx) error {
		return firstOf(
			tx.MarkReviewsChanged(ctx, none.ID), tx.PutReviewState(ctx, review.Record{}, review.Record{PullID: reviewed.ID, State: review.Pending}),
			tx.ForgetReviews(ctx, none.ID), tx.ForgetReviews(ctx, reviewed.ID),
		)
	})
	equal(t, reviewsOf(t, d, none.ID).Look, 0)
	equal(t, reviewsOf(t, d, reviewed.ID).Record.State, review.Pending)
	update(t, d, func(tx *Tx) error { return tx.MarkReviewsChanged(ctx, none.ID) }) // reopened
	equal(t, reviewsOf(t, d, none.ID).Look, 1)
}

// No agent reviews a head twice, whatever was lost meanwhile; a person may.
func TestOneVerdictOfAnAgentAboutAHead(t *testing.T) {
	d := newDB(t)
	p := newPull(t, d, 1)
	v := review.Verdict{PullID: p.ID, ReviewID: 7, Reviewer: "quinn", Head: "h", Decision: review.RequestChanges}
	id, added := addVerdict(t, d, v)
	equal(t, added, true)
	for what, change := range map[string]func(*review.Verdict){
		"the same review":    func(*review.Verdict) {},
		"another review":     func(v *review.Verdict) { v.ReviewID = 8 },
		"in another epoch":   func(v *review.Verdict) { v.ReviewID, v.Epoch, v.Cycle, v.Decision = 9, 1, 2, review.Approve },
		"before it was sent": func(v *review.Verdict) { v.ReviewID = 0 },
	} {
		t.Run(what, func(t *testing.T) {
			again := v
			change(&again)
			known, added := addVerdict(t, d, again)
			equal(t, []any{known, added}, []any{id, false})
		})
	}
	for what, change := range map[string]func(*review.Verdict){
		"another head":       func(v *review.Verdict) { v.Head, v.ReviewID = "h2", 8 },
		"another reviewer":   func(v *review.Verdict) { v.Reviewer, v.ReviewID = "sam", 9 },
		"kept":               func(v *review.Verdict) { v.Head, v.KeptFrom = "h3", "h" },
		"kept beside one":    func(v *review.Verdict) { v.KeptFrom, v.ReviewID = "h0", 10 },
		"a person":           func(v *review.Verdict) { v.Human, v.Reviewer, v.ReviewID = true, "ann", 11 },
		"a person again":     func(v *review.Verdict) { v.Human, v.Reviewer, v.ReviewID = true, "ann", 12 },
		"a person's command": func(v *review.Verdict) { v.Human, v.Reviewer, v.ReviewID, v.CommentID = true, "ann", 0, 13 },
	} {
		t.Run(what, func(t *testing.T) {
			other := v
			change(&other)
			got, added := addVerdict(t, d, other)
			equal(t, []any{got != id, added}, []any{true, true})
			known, added := addVerdict(t, d, other)
			equal(t, []any{known, added}, []any{got, false})
		})
	}
	first := reviewsOf(t, d, p.ID).Verdicts[0]
	v.ID, v.Validity, v.At = id, review.Counts, t0
	equal(t, first, v)
}

// What a person took back stays so.
func TestMarkVerdict(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	pull := newPull(t, d, 1).ID
	id, _ := addVerdict(t, d, review.Verdict{PullID: pull, ReviewID: 7, Reviewer: "quinn", Head: "h"})
	for _, step := range []struct {
		as      review.Validity
		changed bool
		want    review.Validity
	}{
		{review.Counts, false, review.Counts},
		{review.Moved, true, review.Moved},
		{review.Moved, false, review.Moved},
		{review.TakenBack, true, review.TakenBack},
		{review.Counts, false, review.TakenBack},
		{review.TakenBack, false, review.TakenBack},
	} {
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.MarkVerdict(ctx, id, step.as) }), step.changed)
		equal(t, reviewsOf(t, d, pull).Verdicts[0].Validity, step.want)
	}
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { _, err := tx.MarkVerdict(ctx, 99, review.Moved); return err })
}

// Of a finding is learned what GitHub made of it, and what was answered; nothing is lost
// by a look that knows less.
func TestFindings(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := newPull(t, d, 1)
	first, _ := addVerdict(t, d, review.Verdict{PullID: p.ID, ReviewID: 7, Reviewer: "quinn", Head: "h"})
	second, _ := addVerdict(t, d, review.Verdict{PullID: p.ID, ReviewID: 8, Reviewer: "quinn", Head: "h2"})
	put := func(x review.Finding) (wrote int64) {
		return inTx(t, d, func(tx *Tx) (int64, error) {
			before := changedRows(t, tx)
			err := tx.PutFindings(ctx, []review.Finding{x})
			return changedRows(t, tx) - before, err
		})
	}
	x := review.Finding{PullID: p.ID, ID: "f", Reviewer: "quinn", Head: "h", Path: "a.go", Line: 3, Severity: review.Major, Body: "no"}
	for _, step := range []struct {
		seen  review.Finding
		wrote int64
		then  func(*review.Finding)
	}{
		{x, 1, func(*review.Finding) {}},
		{x, 0, func(*review.Finding) {}},
		{review.Finding{PullID: p.ID, ID: "f", VerdictID: first}, 1, func(x *review.Finding) { x.VerdictID = first }},
		{review.Finding{PullID: p.ID, ID: "f", CommentID: 5, ThreadNode: "T"}, 1, func(x *review.Finding) { x.CommentID, x.ThreadNode = 5, "T" }},
		{review.Finding{PullID: p.ID, ID: "f", CommentID: 5, ThreadNode: "T", VerdictID: first}, 0, func(*review.Finding) {}},
		{review.Finding{PullID: p.ID, ID: "f", Answer: "done", Body: "changed", Severity: review.Nit}, 1, func(x *review.Finding) { x.Answer = "done" }},
	} {
		equal(t, put(step.seen), step.wrote)
		step.then(&x)
		equal(t, reviewsOf(t, d, p.ID).Findings, []review.Finding{x})
	}
	put(review.Finding{PullID: p.ID, ID: "g", VerdictID: first})
	for _, by := range []int64{second, first} {
		update(t, d, func(tx *Tx) error { return tx.ResolveFindings(ctx, p.ID, by, []string{"f", "unknown"}) })
	}
	found := reviewsOf(t, d, p.ID).Findings
	equal(t, []any{found[0].ResolvedBy, found[1].Open()}, []any{second, true})
}

// A fix that was pushed beats what was thought of it before; all else stays as it was
// stored first.
func TestFixesInsertionsAndRequests(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := newPull(t, d, 1)
	asked := review.Fix{PullID: p.ID, ReviewID: 7, Reviewer: "quinn", TurnID: 3, Head: "h", Outcome: review.FixAsked, At: t0}
	pushed := asked
	pushed.TurnID, pushed.Outcome, pushed.Commit = 4, review.FixPushed, "c"
	lost := pushed
	lost.TurnID, lost.Commit = 0, "c"
	for _, step := range []struct{ put, want review.Fix }{{asked, asked}, {pushed, pushed}, {asked, pushed}, {lost, pushed}} {
		update(t, d, func(tx *Tx) error { return tx.PutFix(ctx, step.put) })
		equal(t, reviewsOf(t, d, p.ID).Fixes, []review.Fix{step.want})
	}
	again := review.Fix{PullID: p.ID, ReviewID: 7, Epoch: 1, Outcome: review.FixUnchanged}
	update(t, d, func(tx *Tx) error { return tx.PutFix(ctx, again) })
	equal(t, len(reviewsOf(t, d, p.ID).Fixes), 2)

	for _, step := range []struct {
		name, by string
		added    bool
	}{{"sam", "quinn", true}, {"priya", "quinn", true}, {"sam", "priya", false}} {
		in := review.Insertion{PullID: p.ID, Name: step.name, By: step.by, At: t0}
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddInsertion(ctx, in) }), step.added)
	}
	equal(t, reviewsOf(t, d, p.ID).Inserted, []review.Insertion{{PullID: p.ID, Name: "sam", By: "quinn", At: t0}, {PullID: p.ID, Name: "priya", By: "quinn", At: t0}})

	for _, step := range []struct {
		head  string
		added bool
	}{{"h", true}, {"h", false}, {"h2", true}} {
		r := ReviewRequest{PullID: p.ID, Reviewer: "ann", Head: step.head}
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddRequest(ctx, r) }), step.added)
	}
	stored := reviewsOf(t, d, p.ID)
	equal(t, stored.askedOf("ann"), []string{"h", "h2"})
	equal(t, len(stored.askedOf("bob")), 0)
}

// What changed while it was decided is looked at once more.
func TestListLooking(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p, q := newPull(t, d, 1), newPull(t, d, 2)
	looking := func(policy string, want ...int64) {
		t.Helper()
		equal(t, inTx(t, d, func(tx *Tx) ([]int64, error) { return tx.ListUndecidedReviews(ctx, p.RepoID, policy) }), want)
	}
	looked := func(p work.PullRequest, look int, policy string) {
		t.Helper()
		update(t, d, func(tx *Tx) error { return tx.MarkReviewsDecided(ctx, p.ID, look, policy) })
	}
	set := func(p work.PullRequest) {
		t.Helper()
		update(t, d, func(tx *Tx) error { return tx.MarkReviewsChanged(ctx, p.ID) })
	}
	looking("one")
	set(p)
	set(q)
	looking("one", p.ItemID, q.ItemID)
	looked(p, 1, "one")
	looking("one", q.ItemID)
	set(q)
	looked(q, 1, "one")
	looking("one", q.ItemID)
	looked(q, 2, "one")
	looking("one")
	for _, policy := range []string{"none", "two"} { // before it and after it
		looking(policy, p.ItemID, q.ItemID)
	}
	looked(p, 0, "two")
	looking("two", q.ItemID)
	looked(q, 0, "two")

	for what, change := range map[string]func(*Tx, string) error{
		"hold":  func(tx *Tx, s string) error { return tx.SetHold(ctx, p.ID, review.Held{By: s, At: t0}) },
		"label": func(tx *Tx, s string) error { return tx.SetLabelHead(ctx, p.ID, s) },
	} {
		t.Run(what, func(t *testing.T) {
			for _, to := range []string{"a", "b"} {
				update(t, d, func(tx *Tx) error { return change(tx, to) })
				looking("two", p.ItemID)
				looked(p, 1, "two")
				update(t, d, func(tx *Tx) error { return change(tx, to) }) // as it was already
				looking("two")
			}
		})
	}

	// So does each fact, once.
	v := review.Verdict{PullID: p.ID, ReviewID: 7, Reviewer: "quinn", Head: "h"}
	id, _ := addVerdict(t, d, v)
	looking("two", p.ItemID)
	looked(p, 1, "two")
	for what, store := range map[string]func(*Tx) error{
		"mark": func(tx *Tx) error { return second(tx.MarkVerdict(ctx, id, review.Moved)) },
		"fix": func(tx *Tx) error {
			return tx.PutFix(ctx, review.Fix{PullID: p.ID, ReviewID: 7, Outcome: review.FixPushed})
		},
		"call in": func(tx *Tx) error { return second(tx.AddInsertion(ctx, review.Insertion{PullID: p.ID, Name: "sam"})) },
		"failure": func(tx *Tx) error { return tx.FailReview(ctx, review.Record{PullID: p.ID, FailedKey: "k"}) },
	} {
		t.Run(what, func(t *testing.T) {
			update(t, d, store)
			looking("two", p.ItemID)
			looked(p, 1, "two")
			if what == "failure" {
				return
			}
			update(t, d, store)
			looking("two")
		})
	}
	update(t, d, func(tx *Tx) error { _, _, err := tx.AddVerdict(ctx, v); return err })
	looking("two")

	// Of a pull request that is over only that is decided which was not yet.
	p.State = work.PullMerged
	update(t, d, func(tx *Tx) error { return second(tx.PutPull(ctx, p)) })
	set(p)
	looking("two")
	pending := review.Record{PullID: p.ID, State: review.Pending}
	update(t, d, func(tx *Tx) error { return tx.PutReviewState(ctx, review.Record{}, pending) })
	looking("two", p.ItemID)
	update(t, d, func(tx *Tx) error {
		return tx.PutReviewState(ctx, pending, review.Record{PullID: p.ID, State: review.Merged})
	})
	looking("two")
	looking("three", q.ItemID)
}

// However many wait for people, none of them is read to find those that changed.
func TestLookingReadsNoneThatWaits(t *testing.T) {
	d, asked := recording(t, newPath(t))
	r := lived(t, d, 50)
	clear(asked.said)
	if _, err := inView(t, d, func(tx *Tx) ([]int64, error) { return tx.ListUndecidedReviews(t.Context(), r.ID, "policy") }); err != nil {
		t.Fatal(err)
	}
	uses := map[string]int{}
	for query, args := range maps.Clone(asked.said) {
		if !strings.Contains(query, "WITH looking") {
			continue
		}
		for _, step := range explain(t, d, query, args) {
			for _, index := range []string{
				"INDEX pull_reviews_busy (repo_id=? AND look>?)", "INDEX pull_reviews_policy (repo_id=? AND policy<?)", "INDEX pull_reviews_policy (repo_id=? AND policy>?)",
			} {
				if strings.Contains(step, index) {
					uses[index]++
				}
			}
		}
	}
	if len(uses) != 3 {
		t.Errorf("the indexes that are used: %v", uses)
	}
}

func inView[T any](t *testing.T, d *DB, fn func(*Tx) (T, error)) (v T, err error) {
	t.Helper()
	err = d.View(t.Context(), func(tx *Tx) error {
		v, err = fn(tx)
		return err
	})
	return v, err
}

func TestReviewLogTellsEachThingOnce(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	p := newPull(t, d, 1)
	add := func(e ReviewLog) bool {
		return inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddReviewLog(ctx, e) })
	}
	var want ReviewLog
	fill(t, &want)
	want.RepoID, want.ItemID = p.RepoID, p.ItemID
	earlier := ReviewLog{RepoID: p.RepoID, ItemID: p.ItemID, Key: "earlier", At: t0.Add(-time.Hour)}
	equal(t, []bool{add(want), add(want), add(earlier)}, []bool{true, false, true})
	equal(t, add(ReviewLog{RepoID: p.RepoID, Key: "of no item"}), true)
	equal(t, inTx(t, d, func(tx *Tx) ([]ReviewLog, error) {
		scan := func(row scanner) (e ReviewLog, err error) { return e, row.Scan(logFields(&e)...) }
		return listRows(ctx, tx, "list the log", scan, `SELECT `+logColumns+` FROM history WHERE item_id = ? AND key IS NOT NULL ORDER BY at, id`, p.ItemID)
	}), []ReviewLog{earlier, want})
	if err := d.Update(ctx, func(tx *Tx) error { _, err := tx.AddReviewLog(ctx, ReviewLog{RepoID: 99, Key: "k"}); return err }); err == nil {
		t.Error("something happened in no repository")
	}
}

// facts returns the stored facts from which internal/work/review decides.
func (s Reviews) facts() review.Facts {
	return review.Facts{Record: s.Record, Verdicts: s.Verdicts, Findings: s.Findings, Fixes: s.Fixes, Inserted: s.Inserted}
}

// askedOf returns the heads for which a person was asked for a review, earliest first.
func (s Reviews) askedOf(reviewer string) []string {
	var heads []string
	for _, r := range s.Requested {
		if r.Reviewer == reviewer {
			heads = append(heads, r.Head)
		}
	}
	return heads
}

// listVerdicts returns the verdicts about a pull request, oldest first.
func (t *Tx) listVerdicts(ctx context.Context, pullID int64) ([]review.Verdict, error) {
	return listRows(ctx, t, fmt.Sprintf("list verdicts about pull request %d", pullID), scanVerdict, selectVerdict+`WHERE pull_id = ? ORDER BY at, id`, pullID)
}
