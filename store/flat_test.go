package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/news"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// recorder is the SQLite driver, and remembers what it was asked.
type recorder struct {
	dsn  string
	mu   sync.Mutex
	said map[string][]driver.NamedValue // statement to its last arguments
	sent []string                       // statements, as often as they were sent
	rows map[string]int                 // how many rows statements gave
}

func (r *recorder) Driver() driver.Driver { return &sqlite.Driver{} }

func (r *recorder) Connect(context.Context) (driver.Conn, error) {
	c, err := r.Driver().Open(r.dsn)
	if err != nil {
		return nil, err
	}
	return recorded{c.(conn), r}, nil
}

type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type recorded struct {
	conn
	r *recorder
}

func (c recorded) note(query string, args []driver.NamedValue) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.r.said[query] = args
	c.r.sent = append(c.r.sent, query)
}

func (c recorded) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.note(query, args)
	return c.conn.ExecContext(ctx, query, args)
}

func (c recorded) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(query, args)
	rows, err := c.conn.QueryContext(ctx, query, args)
	return counted{rows, query, c.r}, err
}

// counted counts the rows that are read.
type counted struct {
	driver.Rows
	query string
	r     *recorder
}

func (c counted) Next(dest []driver.Value) error {
	err := c.Rows.Next(dest)
	if err == nil {
		c.r.mu.Lock()
		c.r.rows[c.query]++
		c.r.mu.Unlock()
	}
	return err
}

// recording opens a database whose statements are remembered.
func recording(t testing.TB, path string) (*DB, *recorder) {
	t.Helper()
	d, err := Open(t.Context(), path, Options{Now: clock}) // makes the schema, by statements of its own
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SQL.Close(); err != nil {
		t.Fatal(err)
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(5000)", "foreign_keys(1)"}}
	r := &recorder{dsn: (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String(), said: map[string][]driver.NamedValue{}, rows: map[string]int{}}
	d.SQL = sql.OpenDB(r)
	t.Cleanup(func() { _ = d.Close() })
	return d, r
}

// lived is what a busy repository leaves behind: n processed events of items
// that are over, with a turn for each ten of them and an action and a line of
// history for each five. Beside them is one open item in the middle of a turn.
func lived(t testing.TB, d *DB, n int) work.Repo {
	t.Helper()
	ctx := t.Context()
	r := addRepo(t, d)
	count := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) `
	for _, fill := range []struct {
		rows  int
		query string
	}{
		{max(1, n/40), `INSERT INTO work_items (repo_id, number, flow, parent_id, state, state_since, reason, title, body, author_id, author_login, author_bot, url, priority, label, label_event, branch, document, touch_paths, design_pull, design_commit, size, depends_on, edited, issue_closed, decision_summary, fingerprint) SELECT ?1, 100 + i, 'bugfix', NULL, 'completed', ?3, '', 'title', 'body', 1, 'x', 0, '', 3, '', '', '', '', '[]', 0, '', '', '[]', '', 0, '', '' FROM n`},
		{max(1, n/40), `INSERT INTO pull_requests (repo_id, item_id, number, node_id, url, title, state, branch, head_oid, base, mergeable, rollup, merge_commit, updated_at, fingerprint, details_at, created_at, files, label_changes, lost_oid, accepted_oid) SELECT ?1, i, 1000000 + i, 'node' || i, '', '', 'merged', '', '', '', '', '', '', ?3, '', ?3, ?3, '[]', 0, '', '' FROM n`},
		{max(1, n/10), `INSERT INTO turns (repo_id, item_id, number, kind, turn_key, step, slot, reason, blocked, branch, base, head, agent, request, attempts, runs, answer, commit_oid, session, input_tokens, output_tokens, cost_usd, event_keys, not_before, wait_reason, last_error, claimed_at, updated_at, ended_at, sandbox) SELECT ?1, 1 + i % max(1, ?2 / 4), 1000000 + i % max(1, ?2 / 4), 'implementation_feedback', 'turn ' || i, 'done', 0, '', 0, '', '', '', '', x'7b7d', 0, 1, x'7b7d', 'commit' || i, '', 1, 1, 0.5, '[]', 0, '', '', ?3, ?3, ?3, '' FROM n`},
		{max(1, n/10), `INSERT INTO runs (` + runColumns + `) SELECT i, 1, 'codex', '', ?3, ?3, 1, 1, 0.5, 1, 1, 1, '' FROM n`},
		{max(1, n), `INSERT INTO events (repo_id, item_id, event_key, number, kind, source, content_hash, author_id, author_login, author_bot, body, state, url, thread_top, path, line, diff_hunk, created_at, updated_at, seen_at, turn_id, processed_at, outcome) SELECT ?1, 1 + i % max(1, ?2 / 40), 'key ' || i, 1000000 + i % max(1, ?2 / 40), 'issue', '' || i, '', 1, 'x', 0, 'a comment', '', '', 0, '', 0, '', ?3, ?3, ?3, NULL, ?3, 'answered' FROM n`},
		{max(1, n/5), `INSERT INTO actions (repo_id, turn_id, item_id, position, kind, need, token, state, number, target, on_kind, title, body, base, head, why, sends, result_id, result_url, planned_at, sent_at, seen_at, not_before, last_error, settled_at, renewals, made) SELECT ?1, 1 + i % max(1, ?2 / 2), 1 + i % max(1, ?2 / 8), 0, 'reply', 'required', 'token ' || i, 'applied', 1, '', '', '', 'a reply', '', '', '', 1, '1', '', ?3, ?3, ?3, 0, '', ?3, 0, 0 FROM n`},
		{max(1, n/40), `INSERT INTO roadmaps (` + roadmapColumns + `) SELECT i, ?1, 'ended', ?3, '', '', 0, '', 0, 1, 0, ?3, '', '' FROM n`},
		{max(1, n/40), `INSERT INTO roadmap_nodes (` + childColumns + `) SELECT i, 'node', 0, '', 'bugfix', '[]', '', 'labelled', i, '', '[]', '' FROM n`},
		{max(1, n/40), `INSERT INTO pull_reviews (pull_id, repo_id, state, trouble_head, box_at, box_read_at, box) SELECT i, ?1, 'merged', 'h', ?3, ?3, '{}' FROM n`},
		{max(1, n/40), `INSERT INTO merge_words (pull_id, head, comment_id, by_id, by_login, by_bot, url, at) SELECT i, 'h', ?1, 1, 'x', 0, '', ?3 FROM n`},
		{max(1, n/40), `INSERT INTO merges (repo_id, pull_id, item_id, number, head, base, base_oid, tree, method, stage, commit_oid, parent_oid, landed_tree, at, landed_at, differs) SELECT ?1, i, i, 1000000 + i, 'h', 'main', '', '', 'squash', 'landed', '', '', '', ?3, ?3, '' FROM n`},
		{max(1, n/5), `INSERT INTO notifications (target, key, what, repo_id, item_id, number, at, state, sent_at, settled_at, last_error, machine, body) SELECT 'chat', 'pass_' || i, CASE i % 9 WHEN 0 THEN 'pass_failing' ELSE 'blocked' END, ?1, NULL, i, ?3, 'done', ?3, ?3, '', '', '' FROM n`},
		{max(1, n/5), `INSERT INTO history (` + historyColumns + `) SELECT ?1, 1 + i % max(1, ?2 / 8), 1, ?3, 'state', 'moved' FROM n`},
	} {
		update(t, d, func(tx *Tx) error {
			_, err := tx.exec(ctx, "fill", filling(d, count+fill.query), r.ID, fill.rows, millis(t0.Add(-24*time.Hour)))
			return err
		})
	}
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateRunning})
	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: 2, Key: "live"})
	update(t, d, func(tx *Tx) error {
		pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: r.ID, ItemID: i.ID, Number: 2, State: work.PullOpen})
		if err == nil {
			err = tx.PutReviewState(ctx, review.Record{}, review.Record{PullID: pull, State: review.Approved})
		}
		if err != nil {
			return err
		}
		_, err = tx.AddAction(ctx, work.Action{RepoID: r.ID, Token: "notice"})
		return err
	})
	addEvent(t, d, work.Event{RepoID: r.ID, ItemID: i.ID, TurnID: u.ID, Number: 2, Key: "pending", Kind: work.EventIssue, Source: "7"})
	return r
}

// idlePass is what a pass asks of the database that finds nothing new.
func idlePass(ctx context.Context, d *DB, r work.Repo) error {
	err := d.View(ctx, func(tx *Tx) error {
		_, repoErr := tx.OpenRepos(ctx, []work.RepoName{r.Name})
		_, reposErr := tx.ListRepos(ctx)
		_, repoAgainErr := tx.GetRepo(ctx, r.ID)
		_, accountsErr := tx.ListAccounts(ctx, work.RoleOperator)
		_, clocksErr := tx.ListClocks(ctx, "")
		_, limitsErr := tx.ListLimits(ctx)
		_, fleetErr := tx.GetFleet(ctx)
		_, machinesErr := tx.ListMachines(ctx)
		_, unfinishedErr := tx.ListUnfinishedTurns(ctx)
		_, busyErr := tx.CountUnfinished(ctx)
		_, openErr := tx.ListOpenPulls(ctx, r.ID)
		_, wholeErr := tx.ListWholeOpenPulls(ctx, r.ID)
		_, pagesErr := tx.ListValidators(ctx, r.ID)
		_, lookErr := tx.GetFirstLook(ctx, r.ID)
		_, labelsErr := tx.ListSeenLabels(ctx, r.ID)
		_, nearErr := tx.ListNearLabels(ctx, t0)
		_, backlogErr := tx.ListBacklog(ctx, r.ID)
		_, unreadNumbersErr := tx.ListUnreadNumbers(ctx)
		_, _, userErr := tx.GetValidator(ctx, 0, "user@github.com")
		_, pendingErr := tx.ListPendingEvents(ctx, r.ID)
		_, factsErr := tx.ListPendingFacts(ctx, r.ID)
		_, writtenErr := tx.ListItemsWithComments(ctx, r.ID)
		_, waitingErr := tx.ListPendingCommentsOf(ctx, r.ID, []int64{1})
		_, statesOfErr := tx.ListStatesOf(ctx, r.ID, []int64{1})
		_, statesErr := tx.ListStates(ctx, []string{"reply"})
		_, noticesErr := tx.ChooseNotices(ctx, r.ID, nil)
		_, unshownErr := tx.ListDroppedDue(ctx, r.ID, t0)
		open, itemsErr := tx.ListOpenItems(ctx, r.ID)
		_, dependsErr := tx.ListOpenDependencies(ctx, r.ID)
		_, blockedErr := tx.ListBlocked(ctx, r.ID, map[string]work.DependencyState{"h/o/r#1": work.DependencyClosed}, t0)
		_, spentErr := tx.ListSpentSince(ctx, t0)
		_, runsErr := tx.ListOpenRuns(ctx)
		_, rewrittenErr := tx.ListRewritten(ctx, r.ID)
		_, draftsErr := tx.ListDrafts(ctx, r.ID)
		_, dueErr := tx.ListDueWaits(ctx, r.ID, t0)
		_, lookingErr := tx.ListUndecidedReviews(ctx, r.ID, "policy")
		_, pausedErr := tx.ListOpenPauses(ctx, r.ID)
		_, roadmapsErr := tx.ListRoadmaps(ctx, r.ID)
		_, hiddenErr := tx.ListHidden(ctx, r.ID, t0, 100)
		if err := mergeNothing(ctx, tx, r); err != nil {
			return err
		}
		if err := lookAtMany(ctx, tx, r); err != nil {
			return err
		}
		if err := tellNothing(ctx, tx); err != nil {
			return err
		}
		for _, i := range open {
			if _, err := tx.ListDependencies(ctx, i.ID); err != nil {
				return err
			}
		}
		return firstOf(draftsErr, hiddenErr, roadmapsErr, waitingErr, factsErr, writtenErr, statesOfErr, statesErr, lookingErr, repoAgainErr, reposErr, unshownErr, spentErr, runsErr, clocksErr, limitsErr, backlogErr, unreadNumbersErr, itemsErr, rewrittenErr, dueErr, dependsErr, blockedErr, pausedErr, repoErr, accountsErr, unfinishedErr, busyErr, openErr, wholeErr, pagesErr, lookErr, labelsErr, nearErr, userErr, pendingErr, noticesErr, fleetErr, machinesErr)
	})
	return firstOf(err, d.Update(ctx, func(tx *Tx) error {
		_, accountErr := tx.AccountOn(ctx, r.Name.Host)
		return firstOf(accountErr, tx.LookedAt(ctx, []int64{1}, t0), tx.SetClock(ctx, r.Name.Host, 0, 0), tx.Heartbeat(ctx, r.ID, t0), tx.PutNewest(ctx, r.ID, work.Stamps{}))
	}))
}

// mergeNothing is what a pass asks about merging that finds nothing new.
func mergeNothing(ctx context.Context, tx *Tx, r work.Repo) error {
	candidates, err := tx.ListMergeCandidates(ctx, r.ID)
	_, actionsErr := tx.ListMergingActions(ctx, r.ID)
	_, unsettledErr := tx.ListUnsettledMerges(ctx, r.ID)
	_, updatesErr := tx.ListUpdates(ctx, r.ID, t0)
	_, recentErr := tx.ListMerges(ctx, r.ID, t0)
	_, untoldErr := tx.ListUnreportedHalts(ctx)
	_, _, stoppedErr := tx.MergingStopped(ctx, r.ID)
	err = firstOf(err, actionsErr, unsettledErr, updatesErr, recentErr, untoldErr, stoppedErr)
	for _, p := range candidates {
		_, _, boxErr := tx.GetBox(ctx, p.ID)
		_, wordsErr := tx.ListMergeApprovals(ctx, p.ID)
		_, _, troubleErr := tx.GetMergeTrouble(ctx, p.ID)
		_, _, mergeErr := tx.FindMerge(ctx, p.ID, p.HeadOID)
		err = firstOf(err, boxErr, wordsErr, troubleErr, mergeErr)
	}
	if err == nil && len(candidates) != 1 {
		err = fmt.Errorf("%d pull requests may be merged, not 1", len(candidates))
	}
	return err
}

// lookAtMany is what a pass over many repositories asks of all of them at once.
func lookAtMany(ctx context.Context, tx *Tx, r work.Repo) error {
	_, unreadErr := tx.ListUnread(ctx, t0, t0)
	_, busyErr := tx.ListBusy(ctx, t0, t0)
	_, landingErr := tx.ListLanding(ctx, t0)
	_, policiesErr := tx.ListPolicies(ctx)
	_, labelsErr := tx.ListAllSeenLabels(ctx)
	return firstOf(unreadErr, busyErr, landingErr, policiesErr, labelsErr)
}

// tellNothing is what a pass asks that tells somebody outside of GitHub, and finds nothing
// new.
func tellNothing(ctx context.Context, tx *Tx) error {
	since := t0.Add(time.Hour)
	_, knownErr := tx.ListKnownTargets(ctx)
	_, stopsErr := tx.ListNewStops(ctx, since)
	_, waitsErr := tx.ListNewWaits(ctx, since)
	_, pullsErr := tx.ListNewPulls(ctx, since)
	_, mergedErr := tx.ListNewMerged(ctx, since)
	_, approvalsErr := tx.ListNewApprovals(ctx, since)
	_, agentsErr := tx.ListOutages(ctx)
	_, haltsErr := tx.ListNewHalts(ctx, since)
	_, _, failingErr := tx.FindFailing(ctx, "chat", "")
	_, silencesErr := tx.ListSilences(ctx)
	_, plannedErr := tx.ListPlannedNews(ctx)
	return firstOf(silencesErr, knownErr, stopsErr, waitsErr, pullsErr, mergedErr, approvalsErr, agentsErr, haltsErr, failingErr, plannedErr)
}

// tellIt is what a message asks of the database.
func tellIt(ctx context.Context, tx *Tx, r work.Repo) error {
	k := news.Known{Target: "chat", What: news.Blocked, Since: t0}
	_, hadErr := tx.HasNews(ctx, "chat", "k")
	addErr := tx.AddNews(ctx, news.Entry{Target: "chat", Key: "k", What: news.Blocked, RepoID: r.ID, State: news.Planned, At: t0})
	all, err := tx.ListPlannedNews(ctx)
	if err := firstOf(err, hadErr, addErr); err != nil {
		return err
	}
	id := all[0].ID
	return firstOf(
		tx.KnowTarget(ctx, k), tx.MarkNewsSent(ctx, id, t0), tx.MarkNewsUnsent(ctx, id, "no"), tx.MarkNewsSent(ctx, id, t0), tx.SettleNews(ctx, id, news.Done, "", t0),
		tx.ForgetTarget(ctx, k, t0),
	)
}

// mergeIt is what the merge of a pull request asks of the database.
func mergeIt(ctx context.Context, tx *Tx, r work.Repo) error {
	all, err := tx.ListMergeCandidates(ctx, r.ID)
	if err != nil {
		return err
	}
	p := all[0]
	m := merging.Merge{RepoID: r.ID, PullID: p.ID, ItemID: p.ItemID, Number: p.Number, Head: "h", Stage: merging.Intended}
	_, planErr := tx.PlanMerging(ctx, work.Action{RepoID: r.ID, ItemID: p.ItemID, Kind: work.ActionMerge, Token: "merge"})
	_, wordErr := tx.AddMergeApproval(ctx, merging.MergeApproval{PullID: p.ID, Head: "h", CommentID: 1})
	lostErr := tx.DropMergeApproval(ctx, p.ID, "h", 1)
	id, putErr := tx.PutMerge(ctx, m)
	_, againErr := tx.PutMerge(ctx, m)
	m.ID, m.Differs = id, "another tree"
	why := work.Reason{Kind: work.WhyMergeDiffers}
	_, landErr := tx.LandMerge(ctx, m, why)
	_, sinceErr := tx.ListMerges(ctx, r.ID, t0)
	stopErr := tx.StopMerging(ctx, r.ID, why)
	_, toldErr := tx.MarkHaltReported(ctx, r.ID)
	_, resumeErr := tx.ResumeMerging(ctx, r.ID)
	return firstOf(
		planErr, wordErr, lostErr, putErr, againErr, landErr, sinceErr, stopErr, toldErr, resumeErr,
		tx.PutBox(ctx, p.ID, merging.Box{Head: "h"}),
		tx.SetMergeTrouble(ctx, p.ID, "h", why),
		tx.SetMergeTrouble(ctx, p.ID, "h", work.Reason{}),
	)
}

// routedPass is what a pass asks and stores beside that which takes in a
// comment and carries a turn from its claim to its end. Nothing of it stays.
func routedPass(ctx context.Context, d *DB, r work.Repo) error {
	undone := fmt.Errorf("undone")
	err := d.Update(ctx, func(tx *Tx) error {
		for _, part := range []func(context.Context, *Tx, work.Repo) error{takeIn, decide, unfold, obey, mergeIt, reviewIt, carryOn, giveUp, tellIt} {
			if err := part(ctx, tx, r); err != nil {
				return err
			}
		}
		return undone
	})
	if err == undone { //nolint:errorlint // this very one
		return nil
	}
	return err
}

func takeIn(ctx context.Context, tx *Tx, r work.Repo) error {
	pull, _, pullErr := tx.GetPull(ctx, r.ID, 2)
	item, _, itemErr := tx.FindItem(ctx, r.ID, 1)
	_, newestErr := tx.GetNewest(ctx, item.ID)
	_, openErr := tx.ListOpenPullsOf(ctx, r.ID, 1)
	_, knownErr := tx.HasEvent(ctx, r.ID, "new")
	_, outcomeErr := tx.ListKnown(ctx, r.ID, []string{"new"})
	_, commandsErr := tx.ListPendingCommands(ctx, r.ID)
	_, oursErr := tx.HasTurnCommit(ctx, r.ID, "commit7")
	_, _, _, levelErr := tx.GetPermission(ctx, r.ID, 1)
	_, pinErr := tx.PinAllowed(ctx, r.ID, work.Account{ID: 3, Login: "x"}, t0)
	_, awaitedErr := tx.ListAwaitedReviewers(ctx, r.ID)
	_, levelsErr := tx.ListReviewerLevels(ctx, r.ID)
	_, writersErr := tx.ListWriters(ctx, r.ID, 3)
	_, listErr := tx.ListEvents(ctx, r.ID, 2)
	_, addErr := tx.AddEvent(ctx, work.Event{RepoID: r.ID, ItemID: pull.ItemID, Number: 2, Key: "new", Kind: work.EventIssue, Source: "8"})
	added, burstErr := tx.AddEvents(ctx, burstOf(r.ID, pull.ItemID, 100))
	_, editErr := tx.SupersedeOlderVersions(ctx, newestOf(added), t0)
	_, putErr := tx.PutPull(ctx, pull)
	return firstOf(
		pullErr, itemErr, newestErr, openErr, knownErr, outcomeErr, commandsErr, oursErr, levelErr, pinErr, awaitedErr, levelsErr, writersErr, listErr, addErr, burstErr, editErr, putErr,
		tx.PutReviewerLevel(ctx, r.ID, "grace", Level{"read", t0}, true),
		tx.OutdateApprovals(ctx, work.PullRequest{ID: pull.ID, BaseChanged: t0}),
		tx.PutThreads(ctx, pull.ID, []work.Thread{{NodeID: "t", Top: 1}}),
		tx.ReopenEvents(ctx, pull.ID, "ignored"),
		tx.RecordEditBack(ctx, work.Event{RepoID: r.ID, Number: 2, Key: "new", Kind: work.EventIssue, Source: "8", UpdatedAt: t0}, t0),
		tx.ReopenEvent(ctx, r.ID, "new", "void", t0),
		tx.TakeBack(ctx, []int64{1}),
		tx.ForgetDetails(ctx, pull.ID), tx.MoveVerdicts(ctx, pull, "", t0),
		tx.PutPullEnd(ctx, work.PullEnd{PullID: pull.ID, ReadAt: t0}),
		tx.SetLost(ctx, pull.ID, "commit7"),
		tx.AcceptHead(ctx, pull.ID, "commit8"),
		tx.AddAccount(ctx, "github.com", work.Account{ID: 1}, work.RoleOperator),
		tx.PutPermission(ctx, r.ID, 1, "x", "write", t0),
		tx.PutValidator(ctx, work.Validator{RepoID: r.ID, URL: "u"}),
		tx.DeleteValidators(ctx, r.ID, "u"),
		tx.SetFirstLook(ctx, r.ID, "next"),
		tx.PutBacklog(ctx, r.ID, Backlogged{Number: 1, At: t0}),
		tx.SetLimit(ctx, work.Limit{Host: "github.com", Resource: "*", NotBefore: t0}),
		tx.MarkBacklogRead(ctx, r.ID, 1, "pass"),
		tx.DropBacklogRead(ctx, r.ID, 1, "pass"),
		tx.DropBacklog(ctx, r.ID, 1),
		tx.AddSeenLabel(ctx, r.ID, "l"),
		tx.SetNearLabel(ctx, r.ID, NearLabel{Number: 1, Set: "agent:smalljob", Meant: "agent:small-job"}),
		tx.SetCursors(ctx, r),
		tx.NameRepo(ctx, r.ID, "config.toml"),
		tx.MarkRepoRemoved(ctx, r.ID),
		identified(tx.IdentifyRepo(ctx, r.ID, RepoIdentity{NodeID: "n", GitHubID: 1, Current: r.Name})),
		tx.DeferRepo(ctx, r.ID, t0, "", false), tx.AddRepoError(ctx, r.ID, ""),
	)
}

func decide(ctx context.Context, tx *Tx, r work.Repo) error {
	pull, _, err := tx.GetPull(ctx, r.ID, 2)
	if err != nil {
		return err
	}
	item, itemErr := tx.GetItem(ctx, pull.ItemID)
	_, _, pullErr := tx.FindPullOfItem(ctx, item.ID)
	_, itemsErr := tx.GetItems(ctx, []int64{item.ID})
	_, pullsErr := tx.FindPullsOfItems(ctx, []int64{item.ID})
	_, besideErr := tx.ListRelatedRows(ctx, []int64{item.ID})
	_, threadsErr := tx.ListThreads(ctx, pull.ID)
	_, _, knownErr := tx.GetAction(ctx, "eyes")
	_, pausesErr := tx.ListPauses(ctx, r.ID, 2)
	addErr := tx.PlanAction(ctx, work.Action{RepoID: r.ID, Token: "eyes"})
	pending, pendingErr := tx.ListPendingEvents(ctx, r.ID)
	_, _, followupErr := tx.FindFollowup(ctx, item.ID)
	_, _, stopErr := tx.FindStop(ctx, item.ID)
	_, takenErr := tx.ListTakenStops(ctx)
	_, needsErr := tx.ListDependenciesOf(ctx, []int64{item.ID})
	limits := func(work.RepoName) roadmap.Limits { return roadmap.Limits{MaxCost: 1} }
	lead, leadErr := tx.AddItem(ctx, work.Item{RepoID: r.ID, Number: 90, Flow: work.FlowRoadmap, State: work.StateMerged})
	home := work.Dependency{Repo: r.Name, Number: 90}.String()
	leadErr = firstOf(leadErr, tx.AddRoadmap(ctx, roadmap.Record{ItemID: lead, RepoID: r.ID, State: roadmap.Followed}, nil))
	_, partErr := tx.AddItem(ctx, work.Item{RepoID: r.ID, Number: 91, State: work.StatePending, SubIssueOf: home})
	above, aboveErr := tx.RoadmapsAbove(ctx, home, limits)
	live, liveErr := tx.ListLiveRoadmaps(ctx)
	if err := firstOf(needsErr, leadErr, partErr, aboveErr, liveErr); err != nil || len(above) != 1 || len(live) == 0 {
		return fmt.Errorf("%d roadmaps above, %d live: %w", len(above), len(live), err)
	}
	_, belowErr := tx.ListIssuesBelow(ctx, above[0].Record)
	_, tablesErr := tx.ListDueTables(ctx, r.ID, t0)
	_, idleErr := tx.ListIdle(ctx, lead)
	spent, spentErr := tx.ListSpent(ctx, item.ID)
	_, servedErr := tx.LastTurn(ctx, r.ID, work.KindFix)
	_, mendedErr := tx.ListTurnEvents(ctx, spent[0].Turn)
	fresh := pending[slices.IndexFunc(pending, func(e work.Event) bool { return e.TurnID == 0 })]
	_, _, sessionErr := func() (string, int, error) {
		s, k, _, err := tx.GetSession(ctx, SessionKey{item.ID, "codex", ""})
		return s, k, err
	}()
	return firstOf(
		itemErr, pullErr, itemsErr, pullsErr, besideErr, threadsErr, knownErr, pausesErr, addErr, pendingErr, sessionErr, followupErr, stopErr, takenErr, spentErr, servedErr, mendedErr,
		belowErr, tablesErr, idleErr, tx.SetIdle(ctx, lead, []roadmap.Neglected{{Ref: home, Since: t0}}), tx.SetTableAt(ctx, lead, t0), tx.MarkTableAbove(ctx, item.ID),
		tx.RenewAllowance(ctx, item.ID),
		tx.PutStop(ctx, work.Stop{ItemID: item.ID}),
		tx.PutFollowup(ctx, work.Followup{ItemID: item.ID}),
		tx.DropFollowup(ctx, item.ID),
		tx.PutPause(ctx, work.Pause{RepoID: r.ID, Number: 2, LabelID: 1, Began: t0}),
		tx.BeginPause(ctx, work.Pause{RepoID: r.ID, Number: 2, Began: t0}),
		tx.EndPauses(ctx, r.ID, 2, PausesAll, t0),
		tx.MoveEvents(ctx, []int64{fresh.ID}, item.ID),
		tx.PutDependency(ctx, Dependency{ItemID: item.ID, Ref: "github.com/o/r#1", State: work.DependencyOpen}),
		tx.SetBlockers(ctx, item.ID, work.Blocked{Open: 1, LookAt: t0}, []work.Blocker{{Ref: "github.com/o/r#1", State: work.DependencyOpen}}, t0),
		tx.LookAtBlockers(ctx, item.ID, t0),
		tx.LeaveToGitHub(ctx, Dependency{ItemID: item.ID, Ref: "github.com/o/r#1"}, t0),
		tx.WakeBlocked(ctx, 1, "github.com/o/r#1", t0),
		tx.DropSessions(ctx, item.ID),
		tx.FinishEvents(ctx, []int64{fresh.ID}, "redirected", t0),
		tx.MoveItem(ctx, item.ID, nil, work.StateBlocked, work.Reason{Kind: work.WhyFailed}, "", t0),
		tx.SetIssue(ctx, item),
		tx.SetWait(ctx, item.ID, work.Wait{}),
		tx.SetResult(ctx, item),
		tx.SetDesign(ctx, item),
		tx.AddProposals(ctx, item.ID, []work.Proposal{{Number: 1, Title: "t"}}), second(tx.ListProposals(ctx, r.ID, item.Number)),
	)
}

// unfold is what a roadmap asks of the database.
func unfold(ctx context.Context, tx *Tx, r work.Repo) error {
	item, err := tx.AddItem(ctx, work.Item{RepoID: r.ID, Number: 8, State: work.StateMerged})
	node := roadmap.Child{ItemID: item, Node: "a", Step: roadmap.Planned}
	err = firstOf(err, tx.AddRoadmap(ctx, roadmap.Record{ItemID: item, RepoID: r.ID, State: roadmap.Unfolding}, []roadmap.Child{node}))
	m, _, findErr := tx.FindRoadmap(ctx, item)
	_, _, ofErr := tx.FindRoadmapOf(ctx, r.ID, 8)
	_, childrenErr := tx.ListChildren(ctx, item)
	_, subErr := tx.ListSubIssues(ctx, item)
	_, workErr := tx.ListWorkOn(ctx, r.ID, []int{8})
	_, actionsErr := tx.ListActions(ctx, []string{"child"})
	return firstOf(
		err, findErr, ofErr, childrenErr, subErr, workErr, actionsErr,
		tx.MoveChild(ctx, node, node), tx.MoveChild(ctx, roadmap.Child{}, roadmap.Child{ItemID: item, Node: "b"}),
		tx.SetSubIssues(ctx, item, []roadmap.SubIssue{{Ref: "github.com/o/r#1"}}, t0),
		tx.WakeRoadmaps(ctx, 1, "github.com/o/r#1", t0),
		tx.MarkTable(ctx, item), tx.ForgetGone(ctx, item), tx.MarkRoadmapChanged(ctx, item), tx.MarkRoadmapDecided(ctx, item, 1),
		tx.MoveRoadmap(ctx, m, m),
	)
}

// obey is what commands ask of the database.
func obey(ctx context.Context, tx *Tx, r work.Repo) error {
	live, _, err := tx.FindTurn(ctx, "live")
	if err != nil {
		return err
	}
	pull, _, pullErr := tx.GetPull(ctx, r.ID, 2)
	_, turnErr := tx.GetTurn(ctx, live.ID)
	_, addErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, Token: "pause", Kind: work.ActionLabels})
	return firstOf(
		pullErr, turnErr, addErr,
		tx.AddHistory(ctx, work.History{RepoID: r.ID, ItemID: live.ItemID, What: "command"}),
		tx.ReadSoon(ctx, pull.ID),
		tx.SetAssigned(ctx, pull.ID, true), tx.AllowAgents(ctx, pull.ID),
		tx.RenewAllowance(ctx, live.ItemID),
		tx.RepeatAction(ctx, work.Action{RepoID: r.ID, Token: "pause", Kind: work.ActionLabels}),
	)
}

// reviewIt is what the reviews of a pull request ask of the database.
func reviewIt(ctx context.Context, tx *Tx, r work.Repo) error {
	pull, _, err := tx.GetPull(ctx, r.ID, 2)
	if err != nil {
		return err
	}
	before, beforeErr := tx.GetReviews(ctx, pull.ID)
	_, manyErr := tx.ListReviews(ctx, []int64{pull.ID, pull.ID + 1})
	v := review.Verdict{PullID: pull.ID, ReviewID: 1, Reviewer: "quinn", Head: "h"}
	id, _, addErr := tx.AddVerdict(ctx, v)
	_, _, againErr := tx.AddVerdict(ctx, v)
	_, markErr := tx.MarkVerdict(ctx, id, review.Moved)
	_, listErr := tx.listVerdicts(ctx, pull.ID)
	_, insertErr := tx.AddInsertion(ctx, review.Insertion{PullID: pull.ID, Name: "sam", By: "quinn"})
	_, askErr := tx.AddRequest(ctx, ReviewRequest{PullID: pull.ID, Reviewer: "ann", Head: "h"})
	_, logErr := tx.AddReviewLog(ctx, ReviewLog{RepoID: r.ID, ItemID: pull.ItemID, Key: "k"})
	_, _, pinErr := tx.PinnedAccount(ctx, r.ID, "ann")
	_, asksErr := tx.AddOrReopenEvent(ctx, work.Event{RepoID: r.ID, ItemID: pull.ItemID, Key: "2:review_due:x:h", Number: 2, Kind: work.EventReviewDue})
	return firstOf(
		beforeErr, manyErr, addErr, againErr, markErr, listErr, insertErr, askErr, logErr, pinErr, asksErr,
		tx.PutFindings(ctx, []review.Finding{{PullID: pull.ID, ID: "f", VerdictID: id}}),
		tx.ResolveFindings(ctx, pull.ID, id, []string{"f"}),
		tx.PutFix(ctx, review.Fix{PullID: pull.ID, ReviewID: 1, Outcome: review.FixPushed}),
		tx.PutReviewState(ctx, before.Record, review.Record{PullID: pull.ID, State: review.Pending}),
		tx.FailReview(ctx, review.Record{PullID: pull.ID, FailedKey: "k"}),
		tx.SetHold(ctx, pull.ID, review.Held{By: "ann", At: t0}),
		tx.SetLabelHead(ctx, pull.ID, "h"),
		tx.MarkReviewsChanged(ctx, pull.ID),
		tx.ForgetReviews(ctx, pull.ID+1000),
		tx.MarkReviewsDecided(ctx, pull.ID, 1, "policy"),
	)
}

func carryOn(ctx context.Context, tx *Tx, r work.Repo) error {
	u, _, turnErr := tx.FindTurn(ctx, "live")
	u, takeErr := tx.TakeTurn(ctx, u)
	_, noticesErr := tx.TakeNotices(ctx, r.ID)
	_, mergingErr := tx.TakeMerging(ctx, r.ID)
	a, addErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, TurnID: u.ID, Token: "reply", Kind: work.ActionReply})
	run, runErr := tx.BeginRun(ctx, work.Run{Turn: u.ID, Attempt: true, Began: t0})
	_, _, madeErr := tx.FindTurnOf(ctx, "live")
	_, turnsErr := tx.ListTurns(ctx, u.ItemID)
	_, eventsErr := tx.ListItemEvents(ctx, u.ItemID)
	_, _, headErr := tx.FindHeadEvent(ctx, u.RepoID, 2, "live")
	_, saidErr := tx.ListPendingComments(ctx, u.RepoID, u.ItemID)
	_, actionsErr := tx.ListTurnActions(ctx, u.ID)
	_, sentErr := tx.ListItemActions(ctx, u.ItemID)
	_, paceErr := tx.CountSends(ctx, t0.Add(-time.Hour))
	sendErr := tx.MarkSent(ctx, a.ID, t0, Pace{t0.Add(-time.Hour), 400})
	editErr := tx.MarkEdited(ctx, a.ID)
	_, costErr := tx.ListUsageKnown(ctx, "codex", t0.Add(-time.Hour))
	_, usageErr := tx.GetSessionUsage(ctx, u.ItemID, "codex", "s")
	_, bundleErr := tx.PutBundle(ctx, Bundle{Turn: u.ID, Commit: "commit7"})
	_, _, takenErr := tx.FindBundle(ctx, u.ID)
	_, onlyErr := tx.OnlyOn(ctx, u.ID)
	return firstOf(
		bundleErr, takenErr, onlyErr, turnErr, takeErr, noticesErr, mergingErr, madeErr, addErr, runErr, turnsErr, eventsErr, headErr, saidErr, actionsErr, sentErr, paceErr, sendErr, editErr, costErr, usageErr,
		tx.PutSessionUsage(ctx, run, work.Usage{InputTokens: 1}),
		tx.SetSetupFailure(ctx, u.ItemID, work.SetupFailure{}),
		second(tx.AddRun(ctx, work.Run{Turn: u.ID, Began: t0, Ended: t0})),
		tx.NoteRun(ctx, run, "s", work.Usage{InputTokens: 1}, work.Known{}),
		tx.EndRun(ctx, work.Run{ID: run}),
		tx.RefundTurn(ctx, run),
		tx.AddTurnUsage(ctx, u.ID, work.Usage{}, work.Known{}),
		tx.DropSession(ctx, SessionOf(u)), tx.DropOtherSessions(ctx, SessionOf(u)),
		tx.NoteOutage(ctx, "codex", t0, t0), third(tx.FindOutage(ctx, "codex")), tx.EndOutage(ctx, "codex"),
		tx.PutAgentStop(ctx, work.Outage{Agent: "codex", Why: work.Reason{Kind: work.WhyAgentLoggedOut}}), third(tx.FindAgentStop(ctx, "codex")), tx.EndAgentStop(ctx, "codex"),
		tx.MarkUnsent(ctx, a.ID),
		tx.CheckRenewal(ctx, a), second(tx.NamesOf(ctx, a)),
		tx.RenewAction(ctx, work.Action{RepoID: r.ID, Token: "reply", Kind: work.ActionReply}),
		tx.DeferAction(ctx, a.ID, t0, ""),
		tx.RefuseAction(ctx, a.ID, t0, work.Reason{Kind: work.WhyMergeLater}), tx.RedoAction(ctx, a.ID),
		tx.HastenAction(ctx, a.ID),
		tx.SetActionBody(ctx, a.ID, "said"),
		tx.MarkApplied(ctx, a.ID, "1", "", t0),
		tx.SaveTurn(ctx, u),
		tx.RefundAttempt(ctx, u.ID),
		tx.DeferTurn(ctx, u.ID, t0, work.Reason{}, false, ""),
		tx.ResumeTurn(ctx, u.ID),
		tx.AdvanceTurn(ctx, u.ID, work.StepClaimed, work.StepAnswered, t0),
		tx.PutSession(ctx, SessionOf(u), "s", 0, t0),
	)
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

func giveUp(ctx context.Context, tx *Tx, r work.Repo) error {
	u, _, err := tx.FindTurn(ctx, "live")
	a, addErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, TurnID: u.ID, Token: "cosmetic"})
	b, besideErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, TurnID: u.ID, Token: "void"})
	c, thirdErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, TurnID: u.ID, Token: "void too"})
	err = firstOf(
		err, addErr, besideErr, thirdErr, tx.MarkVoid(ctx, c.ID, "", "", t0),
		tx.MarkDropped(ctx, a.ID, "", t0), tx.DeferDropped(ctx, a.ID, func(int) time.Time { return t0 }), tx.ReplanDropped(ctx, a.ID), tx.MarkDropped(ctx, a.ID, "", t0), tx.VoidUnsent(ctx, b.ID, "", t0), tx.VoidTurnActions(ctx, u.ID, "", t0),
		tx.BlockTurn(ctx, u.ID, work.Reason{}),
		tx.CountFailure(ctx, u.ID, work.WhyFailed),
		tx.ReleaseEvents(ctx, u.ID), tx.FinishTurnEvents(ctx, u.ID, "answered", t0),
		tx.EndTurn(ctx, u.ID, work.StepAnswered, work.StepDone, "", t0),
	)
	if err != nil {
		return err
	}
	item, err := tx.AddItem(ctx, work.Item{RepoID: r.ID, Number: 9, State: work.StatePending})
	if err != nil {
		return err
	}
	next, err := tx.AddTurn(ctx, work.Turn{RepoID: r.ID, ItemID: item, Number: 9, Key: "next", Step: work.StepClaimed})
	_, textErr := tx.LoadTexts(ctx, []work.Event{{ID: 1}})
	return firstOf(err, tx.AssignEvents(ctx, next, nil), textErr)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// What these indexes hold is only what is unfinished: to walk them whole is no
// scan of what is over.
var partial = []string{"events_pending", "turns_unfinished_item", "turns_unfinished_number", "actions_notices", "work_items_open", "work_items_look", "work_items_told", "pull_requests_open", "pauses_open", "merges_unsettled", "notifications_planned", "stops_live", "pull_requests_busy", "pull_reviews_busy", "actions_unshown", "runs_open", "events_said", "pull_reviews_policy", "actions_merging", "roadmaps_live"}

// What is over is in none of these indexes.
func TestNothingOverIsInPartialIndexes(t *testing.T) {
	var held [2]map[string]int64
	for i, n := range []int{80, 400} {
		d := newFile(t)
		lived(t, d, n)
		held[i] = map[string]int64{}
		for _, name := range partial {
			held[i][name] = inTx(t, d, func(tx *Tx) (int64, error) {
				get := func(query string) (string, error) { return getRow(t.Context(), tx, name, scanString, query) }
				table, tableErr := get(`SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND name = '` + name + `'`)
				made, err := get(`SELECT sql FROM sqlite_master WHERE type = 'index' AND name = '` + name + `'`)
				_, where, _ := strings.Cut(made, "WHERE")
				if err := firstOf(tableErr, err); err != nil || where == "" {
					return 0, fmt.Errorf("%s is no partial index: %w", name, err)
				}
				return getRow(t.Context(), tx, name, scanID, `SELECT count(*) FROM `+table+` WHERE `+where)
			})
		}
	}
	equal(t, held[1], held[0])
}

// grows are the tables that have rows of what is over.
const grows = `events|turns|runs|actions|history|pauses|reviews|findings|fixes|review_calls|pull_reviews|merges|merge_words|pull_requests|work_items|stops|notifications|roadmaps|roadmap_nodes`

var (
	aliases = regexp.MustCompile(`\b(` + grows + `) (?:AS )?([a-z]+)\b`)
	step    = regexp.MustCompile(`^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX (\w+)(?: \((.*)\))?)?$`)
	table   = regexp.MustCompile(`^(?:` + grows + `)$`)
	few     = regexp.MustCompile(`\b(?:item_id|parent_ref|turn_id|pull_id|number|verdict_id|review_id|resolved_by|turn_key|event_key|token|commit_oid)=\?|(?:^|AND )key=\?`)
	lately  = regexp.MustCompile(`\b(?:at|since|\w+_at)>\?`)
)

func sorts(step string) bool { return strings.Contains(step, "TEMP B-TREE") }

// ends are the indexes of which a statement for many rows reads the last entry of each.
var ends = []string{"notifications_silences"}

// walks reports whether a step of a plan looks at rows of what is over, more of them the
// more there are. A search does too, where all that it narrows them by is what half of them
// may have: a repository, a target, the beginning of a key.
func walks(of, query string) bool {
	m := step.FindStringSubmatch(of)
	if m == nil {
		return false
	}
	name := m[2]
	for _, a := range aliases.FindAllStringSubmatch(query, -1) {
		if a[2] == name {
			name = a[1]
		}
	}
	// Beside an INSERT, a table that it does not read is looked through for rows without parents,
	// if there are any.
	orphans := strings.HasPrefix(query, "INSERT INTO ") && !strings.Contains(query, "FROM "+name) && !strings.Contains(query, "JOIN "+name)
	if !table.MatchString(name) || slices.Contains(partial, m[3]) || orphans {
		return false
	}
	if m[1] == "SCAN" {
		return true
	}
	return m[3] != "" && !slices.Contains(ends, m[3]) && !few.MatchString(m[4]) && !lately.MatchString(m[4])
}

var (
	firstRow = regexp.MustCompile(`\(SELECT [^()]* LIMIT 1\)`)
	ofTable  = regexp.MustCompile(` (FROM|JOIN) [a-z]`)
)

// None of what a pass asks walks over what is finished, or passes would
// become slower month by month.
func TestNoPassScansWhatIsOver(t *testing.T) {
	d, asked := recording(t, newPath(t))
	r := lived(t, d, 50)
	clear(asked.said)
	if err := idlePass(t.Context(), d, r); err != nil {
		t.Fatal(err)
	}
	if err := routedPass(t.Context(), d, r); err != nil {
		t.Fatal(err)
	}
	said := maps.Clone(asked.said)
	for query, args := range said {
		if !strings.Contains(query, " ") || strings.HasPrefix(query, "PRAGMA") {
			continue
		}
		steps := explain(t, d, query, args)
		first := (strings.HasSuffix(query, " LIMIT 1") || !ofTable.MatchString(firstRow.ReplaceAllString(query, "0"))) && !slices.ContainsFunc(steps, sorts)
		for _, step := range steps {
			if walks(step, query) && !first {
				t.Errorf("%s\nin %s", step, query)
			}
		}
	}
	if n := len(said); n < 60 {
		t.Errorf("only %d statements were seen", n)
	}
}

// rushed is what many comments at once leave behind, as many of each: comments on the open
// item that wait, eyes and words that are planned, and some that were sent.
func rushed(t testing.TB, d *DB, r work.Repo, n int) {
	t.Helper()
	count := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) `
	for _, query := range []string{
		`INSERT INTO events (repo_id, item_id, event_key, number, kind, source, content_hash, author_id, author_login, author_bot, body, state, url, thread_top, path, line, diff_hunk, created_at, updated_at, seen_at, turn_id, processed_at, outcome) SELECT ?1, (SELECT id FROM work_items WHERE number = 1), 'waits ' || i, 2, 'issue', 'w' || i, '', 1, 'x', 0, 'a comment', '', '', 0, '', 0, '', ?3 + i, ?3 + i, ?3, NULL, 0, '' FROM n`,
		`INSERT INTO actions (repo_id, turn_id, item_id, position, kind, need, token, state, number, target, on_kind, title, body, base, head, why, sends, result_id, result_url, planned_at, sent_at, seen_at, not_before, last_error, settled_at, renewals, made) SELECT ?1, NULL, NULL, 0, 'reaction', 'cosmetic', 'planned ' || i, 'planned', 2, '', '', '', '', '', '', '', 0, '', '', ?3, 0, 0, 0, '', 0, 0, 0 FROM n`,
		`INSERT INTO actions (repo_id, turn_id, item_id, position, kind, need, token, state, number, target, on_kind, title, body, base, head, why, sends, result_id, result_url, planned_at, sent_at, seen_at, not_before, last_error, settled_at, renewals, made) SELECT ?1, NULL, NULL, 0, 'comment', 'cosmetic', 'sent ' || i, 'sent', 2, '', '', '', '', '', '', '', 1, '', '', ?3, ?3, 0, 0, '', 0, 0, 0 FROM n`,
	} {
		update(t, d, func(tx *Tx) error {
			_, err := tx.exec(t.Context(), "fill", count+query, r.ID, n, millis(t0))
			return err
		})
	}
}

// What look at all that waits in a repository: every notice is sent, and a few passes judge
// or hand on every event. The others look for the first one.
var whole = []string{
	`FROM actions WHERE repo_id = ? AND turn_id IS NULL AND state IN ('planned', 'sent') AND NOT kind IN`, // ChooseNotices
	`FROM events WHERE repo_id = ? AND kind >= '' AND processed_at = 0 ORDER BY created_at, id`,           // ListPendingEvents
}

var firsts = []string{
	`EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND processed_at = 0)`,
	`EXISTS (SELECT 1 FROM actions a WHERE a.repo_id = r.id AND turn_id IS NULL AND state IN ('planned', 'sent'))`,
}

func isOf(query string, some []string) bool {
	return slices.ContainsFunc(some, func(of string) bool { return strings.Contains(query, of) })
}

// None of what a pass asks walks over all that waits, or each of the passes after many
// comments at once would pay for them again.
func TestNoPassWalksOverWhatWaits(t *testing.T) {
	d, asked := recording(t, newPath(t))
	r := lived(t, d, 50)
	clear(asked.said)
	if err := errors.Join(idlePass(t.Context(), d, r), routedPass(t.Context(), d, r)); err != nil {
		t.Fatal(err)
	}
	walk := regexp.MustCompile(`(SCAN|SEARCH) \w+ USING (COVERING )?INDEX (events_pending|events_said|actions_notices|actions_sent)( \(repo_id=\?(?: AND kind>\?)?\)| \(sent_at>\?\))?$`)
	said := maps.Clone(asked.said)
	for query, args := range said {
		if !strings.Contains(query, " ") || strings.HasPrefix(query, "PRAGMA") || isOf(query, whole) {
			continue
		}
		for _, step := range explain(t, d, query, args) {
			first := strings.Contains(step, "(repo_id=?)") && isOf(query, firsts)
			if walk.MatchString(step) && !first && !strings.Contains(query, "SELECT COUNT(*) FROM actions WHERE sent_at") { // no more than a pass may send in an hour
				t.Errorf("%s\nin %s", step, query)
			}
		}
	}
	for _, of := range slices.Concat(whole, firsts) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(said)), func(query string) bool { return strings.Contains(query, of) }) {
			t.Errorf("no statement has %s", of)
		}
	}
}

// An idle pass reads as many rows after thousands of comments as after hundreds.
func TestAnIdlePassReadsOneTurnsWorth(t *testing.T) {
	var read [2]map[string]int
	for i, n := range []int{500, 2000} {
		d, asked := recording(t, newPath(t))
		r := lived(t, d, 50)
		rushed(t, d, r, n)
		clear(asked.rows)
		if err := idlePass(t.Context(), d, r); err != nil {
			t.Fatal(err)
		}
		read[i] = maps.Clone(asked.rows)
	}
	for query, n := range read[1] {
		if n != read[0][query] && !isOf(query, whole) {
			t.Errorf("%d rows after 2,000 comments, %d after 500, of %s", n, read[0][query], query)
		}
	}
	if len(read[1]) < 10 {
		t.Errorf("only %d statements gave rows", len(read[1]))
	}
}

func explain(t *testing.T, d *DB, query string, args []driver.NamedValue) []string {
	t.Helper()
	values := make([]any, len(args))
	for i, a := range args {
		values[i] = a.Value
		if a.Name != "" {
			values[i] = sql.Named(a.Name, a.Value)
		}
	}
	return inTx(t, d, func(tx *Tx) ([]string, error) {
		return listRows(t.Context(), tx, "explain", func(row scanner) (s string, err error) {
			var a, b, c int
			return s, row.Scan(&a, &b, &c, &s)
		}, `EXPLAIN QUERY PLAN `+query, values...)
	})
}

// rare are not asked by every pass, and may look at all that is remembered: once a day, or some
// minutes, and for a person; or their tables have a handful of rows.
var rare = []string{"ListInstallations", "PutInstallation", "ListSigns", "PutSign", "ListTurnKeys", "ListItems", "PutMachine", "ForgetMachine", "MergingResumed"}

// metered are asked by passes that write metrics, which sum up all that is remembered.
var metered = []string{
	"CountPass", "ListPasses", "CountRequests", "ListRequests", "PutRateLimits", "ListRateLimits", "CountItems",
	"Turns", "Failures", "Times", "Costs",
}

// What a pass asks is what tick and actions call: a method that they call and
// the passes above do not would escape the test.
func TestThePassesHereAreThoseOfTick(t *testing.T) {
	mine, err := os.ReadFile("flat_test.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\btx\.([A-Z]\w+)\(ctx`)
	seen := 0
	for _, folder := range []string{"tick", "actions"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			for _, m := range call.FindAllStringSubmatch(string(text), -1) {
				seen++
				if m[1] != "Ahead" && !slices.Contains(slices.Concat(rare, metered), m[1]) && !strings.Contains(string(mine), "tx."+m[1]+"(ctx") {
					t.Errorf("%s calls Tx.%s: call it in idlePass, or in a part of routedPass, too", file, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("only %d calls were found", seen)
	}
}
