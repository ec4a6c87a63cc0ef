package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const month = 30 * 24 * time.Hour

// oldStory is an item in a state since a time, with a pull request and one of
// everything that a finished turn leaves behind, all two months old.
func oldStory(t *testing.T, d *DB, number int, s work.State, entered time.Time) work.Item {
	t.Helper()
	since := t0.Add(-2 * month)
	ctx := t.Context()
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: number, State: s, Since: entered})
	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: number, Key: fmt.Sprint("turn ", number)})
	update(t, d, func(tx *Tx) error {
		pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: r.ID, ItemID: i.ID, Number: number + 1000})
		if err != nil {
			return err
		}
		if err := firstOf(reviewed(ctx, tx, pull, since), merged(ctx, tx, r.ID, pull, since)); err != nil {
			return err
		}
		if _, err := tx.AddReviewLog(ctx, ReviewLog{RepoID: r.ID, ItemID: i.ID, Number: number + 1000, Key: fmt.Sprint(number), At: since}); err != nil {
			return err
		}
		e := work.Event{RepoID: r.ID, ItemID: i.ID, TurnID: u.ID, Number: number, Key: fmt.Sprint("event ", number), ProcessedAt: since}
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
		e = work.Event{RepoID: r.ID, Number: number + 1000, Key: fmt.Sprint("pull event ", number), ProcessedAt: since}
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
		e = work.Event{RepoID: r.ID, ItemID: i.ID, Number: 99, Key: fmt.Sprint("elsewhere ", number), ProcessedAt: since}
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
		for turn, token := range map[int64]string{u.ID: "action", 0: "notice"} {
			a, err := tx.AddAction(ctx, work.Action{RepoID: r.ID, TurnID: turn, Number: number, Token: fmt.Sprint(token, " ", number)})
			if err != nil {
				return err
			}
			if err := tx.MarkApplied(ctx, a.ID, "", "", since); err != nil {
				return err
			}
		}
		if err := tx.AddHistory(ctx, work.History{RepoID: r.ID, ItemID: i.ID, Number: number, At: since, What: "x"}); err != nil {
			return err
		}
		if err := tx.PutSession(ctx, SessionKey{i.ID, "codex", ""}, "s", 0, since); err != nil {
			return err
		}
		if _, err := tx.BeginRun(ctx, work.Run{Turn: u.ID, Attempt: true, Began: since}); err != nil {
			return err
		}
		return tx.EndTurn(ctx, u.ID, work.StepClaimed, work.StepDone, "", since)
	})
	return i
}

// reviewed leaves one of everything that reviews leave behind.
func reviewed(ctx context.Context, tx *Tx, pull int64, at time.Time) error {
	id, _, err := tx.AddVerdict(ctx, review.Verdict{PullID: pull, ReviewID: 1, Reviewer: "quinn", Head: "h", At: at})
	_, insertErr := tx.AddInsertion(ctx, review.Insertion{PullID: pull, Name: "sam", At: at})
	_, askErr := tx.AddRequest(ctx, ReviewRequest{PullID: pull, Reviewer: "ann", Head: "h", At: at})
	return firstOf(
		err, insertErr, askErr,
		tx.PutFindings(ctx, []review.Finding{{PullID: pull, ID: "f", VerdictID: id, ResolvedBy: id}}),
		tx.PutFix(ctx, review.Fix{PullID: pull, ReviewID: 1, At: at}),
		tx.PutReviewState(ctx, review.Record{}, review.Record{PullID: pull, State: review.Merged}),
	)
}

// merged leaves one of everything that merging leaves behind.
func merged(ctx context.Context, tx *Tx, repo, pull int64, at time.Time) error {
	id, err := tx.PutMerge(ctx, merging.Merge{RepoID: repo, PullID: pull, Head: "h", Stage: merging.Intended, At: at})
	_, wordErr := tx.AddMergeApproval(ctx, merging.MergeApproval{PullID: pull, Head: "h", CommentID: 1, At: at})
	return firstOf(
		err, wordErr,
		tx.PutBox(ctx, pull, merging.Box{At: at, Head: "h"}),
		tx.SetMergeTrouble(ctx, pull, "h", work.Reason{Kind: work.WhyMergeRefused}),
		second(tx.LandMerge(ctx, merging.Merge{ID: id, Commit: "c", LandedAt: at}, work.Reason{})),
	)
}

// left says what of a story is still there.
func left(t *testing.T, d *DB, number int) []string {
	t.Helper()
	return inTx(t, d, func(tx *Tx) ([]string, error) {
		all, err := listRows(t.Context(), tx, "left", scanString, `
			SELECT event_key FROM events UNION ALL SELECT token FROM actions UNION ALL SELECT turn_key FROM turns
			UNION ALL SELECT 'run ' || u.number FROM runs r JOIN turns u ON u.id = r.turn_id
			UNION ALL SELECT 'history ' || number FROM history WHERE item_id IS NOT NULL AND key IS NULL
			UNION ALL SELECT 'session ' || i.number FROM agent_sessions s JOIN work_items i ON i.id = s.item_id
			UNION ALL SELECT what || ' ' || (p.number - 1000) FROM (
				SELECT 'verdict' AS what, pull_id FROM reviews UNION ALL SELECT 'finding', pull_id FROM findings UNION ALL SELECT 'fix', pull_id FROM fixes
				UNION ALL SELECT CASE head WHEN '' THEN 'called in' ELSE 'request' END, pull_id FROM review_calls
				UNION ALL SELECT 'reviews', pull_id FROM pull_reviews
				UNION ALL SELECT 'word', pull_id FROM merge_words
				UNION ALL SELECT 'merge', pull_id FROM merges) r JOIN pull_requests p ON p.id = r.pull_id
			UNION ALL SELECT 'log ' || (number - 1000) FROM history WHERE key IS NOT NULL
			UNION ALL SELECT 'item ' || number FROM work_items UNION ALL SELECT 'pull ' || (number - 1000) FROM pull_requests`)
		all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasSuffix(s, fmt.Sprint(" ", number)) })
		slices.Sort(all)
		return all, err
	})
}

func TestPrune(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	before := t0.Add(-month)
	old, lately := before.Add(-time.Hour), before.Add(time.Hour)
	oldStory(t, d, 1, work.StateCompleted, old)
	oldStory(t, d, 2, work.StateAwaitingFeedback, old) // open, however old
	oldStory(t, d, 3, work.StateClosed, lately)
	again := oldStory(t, d, 4, work.StateClosed, old) // and the issue has started over
	addItem(t, d, work.Item{RepoID: again.RepoID, Number: 4, State: work.StateRunning, Since: lately})
	waiting := oldStory(t, d, 5, work.StateMerged, old)
	addEvent(t, d, work.Event{RepoID: waiting.RepoID, ItemID: waiting.ID, Number: 5, Key: "pending 5"})
	addAction(t, d, work.Action{RepoID: waiting.RepoID, ItemID: waiting.ID, Number: 5, Token: "unsettled 5"})

	whole := map[int][]string{}
	for number := 1; number <= 5; number++ {
		whole[number] = left(t, d, number)
	}
	n, err := d.Prune(ctx, before)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, left(t, d, 1), []string{"item 1", "pull 1"})
	for _, number := range []int{2, 3} {
		equal(t, left(t, d, number), whole[number])
	}
	// The second item of the issue keeps the keys on the issue; what goes stood
	// on the first one's pull request and elsewhere.
	equal(t, left(t, d, 4), []string{"action 4", "event 4", "history 4", "item 4", "item 4", "notice 4", "pull 4", "run 4", "turn 4"})
	equal(t, left(t, d, 5), []string{"item 5", "pending 5", "pull 5", "unsettled 5"})
	equal(t, inTx(t, d, func(tx *Tx) ([]string, error) { return tx.ListTurnKeys(ctx, waiting.RepoID) }), []string{"turn 2", "turn 3", "turn 4"})
	if want := int64(18 + 12 + 18); n != want {
		t.Errorf("%d rows pruned, want %d", n, want)
	}
	if n, err := d.Prune(ctx, before); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestPruneManyAndValidators(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	const many = 2*pruneBatch + 1
	update(t, d, func(tx *Tx) error {
		for i := range many {
			at := t0.Add(-2 * month)
			if _, err := tx.AddEvent(ctx, work.Event{RepoID: r.ID, Number: i, Key: fmt.Sprint(i), ProcessedAt: at}); err != nil {
				return err
			}
		}
		if err := tx.PutValidator(ctx, work.Validator{URL: "old", SeenAt: t0.Add(-2 * month)}); err != nil {
			return err
		}
		return tx.PutValidator(ctx, work.Validator{URL: "new", SeenAt: t0})
	})
	n, err := d.Prune(ctx, t0.Add(-month))
	if err != nil || n != many+1 {
		t.Errorf("%d pruned, %v; want %d", n, err, many+1)
	}
	update(t, d, func(tx *Tx) error {
		_, ok, err := tx.GetValidator(ctx, 0, "new")
		equal(t, ok, true)
		return err
	})
}

// Each of these runs in every pass: a scan over what is finished would make a
// pass slower month by month.
func TestQueriesUseTheirIndexes(t *testing.T) {
	d := newFile(t)
	for query, index := range map[string]string{
		selectEvent + `WHERE repo_id = 1 AND kind >= '' AND processed_at = 0 ORDER BY created_at, id`:                                  "events_pending",
		`SELECT count(*) FROM events WHERE repo_id = 1 AND processed_at = 0`:                                                           "events_pending",
		selectEvent + `WHERE repo_id = 1 AND number = 1 ORDER BY created_at, id`:                                                       "events_source",
		selectEvent + `WHERE item_id = 1 ORDER BY created_at, id`:                                                                      "events_item",
		`UPDATE events SET turn_id = NULL WHERE turn_id = 1 AND processed_at = 0`:                                                      "events_turn",
		selectTurn + `WHERE ` + unfinished:                                                                                             "turns_unfinished",
		`SELECT id FROM turns WHERE repo_id = 1 AND commit_oid = 'x' AND commit_oid <> '' LIMIT 1`:                                     "turns_commit",
		selectItem + `WHERE repo_id = 1 AND ` + openItem:                                                                               "work_items_open",
		selectPull + `WHERE repo_id = 1 AND state = 'open' ORDER BY number`:                                                            "pull_requests_open",
		selectAction + `WHERE repo_id = 1 AND turn_id IS NULL AND ` + unsettled + ` AND NOT ` + ofMerging + ` ORDER BY planned_at, id`: "actions_notices",
		selectAction + `WHERE repo_id = 1 AND turn_id IS NULL AND ` + unsettled + ` AND ` + ofMerging + ` ORDER BY planned_at, id`:     "actions_merging",
		selectAction + strings.ReplaceAll(updated, "?", "1") + ` ORDER BY sent_at, id`:                                                 "actions_updates",
		`SELECT outcome, count(*) FROM events WHERE repo_id = 1 AND processed_at > 0 GROUP BY outcome`:                                 "events_outcome",
		selectAction + `WHERE turn_id = 1 ORDER BY position, id`:                                                                       "actions_turn",
	} {
		plan := inTx(t, d, func(tx *Tx) ([]string, error) {
			return listRows(t.Context(), tx, "explain", func(row scanner) (s string, err error) {
				var a, b, c int
				return s, row.Scan(&a, &b, &c, &s)
			}, `EXPLAIN QUERY PLAN `+query)
		})
		if !strings.Contains(strings.Join(plan, "\n"), "INDEX "+index) {
			t.Errorf("%s\nis not by %s: %q", query, index, plan)
		}
	}
}

func BenchmarkPassAfterAMillionEvents(b *testing.B) {
	d, ctx := newDB(b), b.Context()
	r := addRepo(b, d)
	const many = 1_000_000
	update(b, d, func(tx *Tx) error {
		_, err := tx.exec(ctx, "many", `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO events (`+eventColumns+`)
			SELECT ?, NULL, 'key ' || (1000000 + i), i / 1000, 'issue', '', '', 1, 'x', 0, 'body', '', '', 0, '', 0, '', i, i, i, NULL, i, 'answered', 0 FROM n`,
			many, r.ID)
		return err
	})
	addEvent(b, d, work.Event{RepoID: r.ID, Number: 5000, Key: "pending"})
	b.Run("ListPendingEvents", func(b *testing.B) {
		for b.Loop() {
			err := d.View(ctx, func(tx *Tx) error {
				all, err := tx.ListPendingEvents(ctx, r.ID)
				if len(all) != 1 {
					b.Fatalf("%d events", len(all))
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("AddEvent", func(b *testing.B) {
		for b.Loop() {
			if err := d.Update(ctx, func(tx *Tx) error {
				_, err := tx.AddEvent(ctx, work.Event{RepoID: r.ID, Number: 5000, Key: "pending"})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Counts", func(b *testing.B) {
		for b.Loop() {
			if err := d.View(ctx, func(tx *Tx) error { _, err := tx.Counts(ctx, r.ID); return err }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What a repository was given once is not made again after a month.
func TestPruneKeepsWhichLabelsWereMade(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	a := addAction(t, d, work.Action{RepoID: addRepo(t, d).ID, Kind: work.ActionRepoLabels, Token: "labels"})
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(ctx, a.ID, "", "", t0.Add(-2*month)) })
	if n, err := d.Prune(ctx, t0.Add(-month)); n != 0 || err != nil {
		t.Errorf("%d rows pruned, %v", n, err)
	}
}
