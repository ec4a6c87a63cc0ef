package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/merges"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const pullColumns = `repo_id, item_id, number, node_id, url, title, state, branch, head_oid, base,
	mergeable, rollup, merge_commit, updated_at, fingerprint, details_at, not_before, failures, last_error, created_at, files, lost_oid, accepted_oid, label_changes,
	draft, author_id, author_login, author_bot, cross_repo, head_repo, base_oid, head_since, checks_since`

func pullFields(p *work.PullRequest) []any {
	return []any{
		&p.RepoID,
		rows.RefOf(&p.ItemID),
		&p.Number, &p.NodeID, &p.URL, &p.Title, &p.State, &p.Branch, &p.HeadOID, &p.Base,
		&p.Mergeable, &p.Rollup, &p.MergeCommit,
		rows.TimeOf(&p.UpdatedAt),
		&p.Fingerprint,
		rows.TimeOf(&p.DetailsAt),
		rows.TimeOf(&p.NotBefore),
		&p.Failures, &p.LastError,
		rows.TimeOf(&p.CreatedAt),
		rows.ListOf(&p.Files),
		&p.LostOID, &p.AcceptedOID,
		&p.LabelChanges,
		&p.Draft, &p.Author.ID, &p.Author.Login, &p.Author.Bot, &p.CrossRepo, &p.HeadRepo, &p.BaseOID,
		rows.TimeOf(&p.HeadSince),
		rows.TimeOf(&p.ChecksSince),
	}
}

func scanPull(row rows.Row) (p work.PullRequest, err error) {
	return p, row.Scan(append([]any{&p.ID}, pullFields(&p)...)...)
}

// scanPulls is scanPull for many: each row is scanned into the same place, and copied.
func scanPulls() func(rows.Row) (work.PullRequest, error) {
	var p work.PullRequest
	fields := append([]any{&p.ID}, pullFields(&p)...)
	return func(row rows.Row) (work.PullRequest, error) {
		err := row.Scan(fields...)
		return p, err
	}
}

const selectPull = `SELECT id, ` + pullColumns + ` FROM pull_requests `

// PutPull stores a pull request's whole snapshot, its backoff included, by
// repository and number. What of a known one is no part of it stays: CreatedAt,
// LostOID and AcceptedOID; and HeadSince, which is now for another head.
func (t pullRows) PutPull(ctx context.Context, p work.PullRequest) (int64, error) {
	what := fmt.Sprintf("put pull request #%d", p.Number)
	if t.tx.ReadOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	for _, at := range []*time.Time{&p.CreatedAt, &p.HeadSince} {
		if at.IsZero() {
			*at = t.tx.Now
		}
	}
	fields := pullFields(&p)
	return rows.Get(ctx, t.tx, what, rows.ScanID,
		`INSERT INTO pull_requests (`+pullColumns+`) VALUES (`+rows.Marks(len(fields))+`)
		 ON CONFLICT (repo_id, number) DO UPDATE SET item_id = excluded.item_id, node_id = excluded.node_id, url = excluded.url,
		 title = excluded.title, state = excluded.state, branch = excluded.branch, head_oid = excluded.head_oid,
		 base = excluded.base, mergeable = excluded.mergeable,
		 rollup = excluded.rollup, merge_commit = excluded.merge_commit, updated_at = excluded.updated_at,
		 fingerprint = excluded.fingerprint, details_at = excluded.details_at, not_before = excluded.not_before,
		 failures = excluded.failures, last_error = excluded.last_error, files = excluded.files, label_changes = excluded.label_changes,
		 draft = excluded.draft, author_id = excluded.author_id, author_login = excluded.author_login, author_bot = excluded.author_bot,
		 cross_repo = excluded.cross_repo, head_repo = excluded.head_repo, base_oid = excluded.base_oid, checks_since = excluded.checks_since,
		 head_since = CASE pull_requests.head_oid WHEN excluded.head_oid THEN pull_requests.head_since ELSE ? END
		 RETURNING id`, append(fields, rows.Millis(t.tx.Now))...)
}

// GetPull gives a tracked pull request by its number.
func (t pullRows) GetPull(ctx context.Context, repoID int64, number int) (work.PullRequest, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("get pull request #%d", number), scanPull,
		selectPull+`WHERE repo_id = ? AND number = ?`, repoID, number)
}

// FindPullOfItem gives the newest pull request of a work item.
func (t pullRows) FindPullOfItem(ctx context.Context, itemID int64) (work.PullRequest, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("find pull request of item %d", itemID), scanPull,
		selectPull+`WHERE item_id = ? ORDER BY number DESC LIMIT 1`, itemID)
}

// ListWholeOpenPulls gives the open tracked pull requests of a repository with all that is
// known of them, by number.
func (t pullRows) ListWholeOpenPulls(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return rows.List(ctx, t.tx, "list open pull requests", scanPulls(), selectPull+`WHERE repo_id = ? AND state = 'open' ORDER BY number`, repoID)
}

// ListMergeCandidates gives the pull requests of a repository that may be merged, by
// number: see merges.Candidates.
func (t pullRows) ListMergeCandidates(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return rows.List(ctx, t.tx, "list who may be merged", scanPull, selectPull+`WHERE id IN (`+merges.Candidates+`) ORDER BY number`, repoID)
}

// ListUnjudgedMerges gives the merged pull requests of a repository of which nothing says
// whether we merged their head (a void merge without a commit does not: what nothing came
// of may have landed late), that changed since a time: the newest first, n at most.
func (t pullRows) ListUnjudgedMerges(ctx context.Context, repoID int64, since time.Time, n int) ([]work.PullRequest, error) {
	return rows.List(ctx, t.tx, "list merged pull requests", scanPull, selectPull+
		`WHERE repo_id = ? AND state = 'merged' AND updated_at >= ? AND merge_commit <> '' AND item_id IS NOT NULL
		 AND NOT EXISTS (SELECT 1 FROM merges m WHERE m.pull_id = pull_requests.id AND m.head = pull_requests.head_oid AND (m.stage <> 'void' OR m.commit_oid <> ''))
		 ORDER BY updated_at DESC LIMIT ?`, repoID, rows.Millis(since), n)
}

// ListPulls gives every tracked pull request of a repository, by number.
func (t pullRows) ListPulls(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return rows.List(ctx, t.tx, "list pull requests", scanPulls(), selectPull+`WHERE repo_id = ? ORDER BY number`, repoID)
}

// DeferPull counts a failure of one pull request, which is not asked about
// before until.
func (t pullRows) DeferPull(ctx context.Context, id int64, until time.Time, reason string) error {
	return t.tx.One(ctx, fmt.Sprintf("defer pull request %d", id), ErrNotFound,
		`UPDATE pull_requests SET not_before = ?, last_error = ?, failures = failures + 1 WHERE id = ?`, rows.Millis(until), t.tx.Clean(reason), id)
}

// RereadPull lets a pull request be asked about again at once.
func (t pullRows) RereadPull(ctx context.Context, id int64) error {
	return t.tx.One(ctx, fmt.Sprintf("read pull request %d again", id), ErrNotFound,
		`UPDATE pull_requests SET not_before = 0, failures = 0 WHERE id = ?`, id)
}

func threadFields(x *work.Thread) []any { return []any{&x.NodeID, &x.Top, &x.Resolved} }

func scanThread(row rows.Row) (x work.Thread, err error) {
	return x, row.Scan(threadFields(&x)...)
}

// PutThreads replaces the threads of a pull request. The same ones again cost
// no write.
func (t pullRows) PutThreads(ctx context.Context, pullID int64, threads []work.Thread) error {
	what := fmt.Sprintf("put threads of pull request %d", pullID)
	known, err := t.ListThreads(ctx, pullID)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if sameThreads(known, threads) {
		return nil
	}
	if _, err := t.tx.Exec(ctx, what, `DELETE FROM threads WHERE pull_id = ?`, pullID); err != nil {
		return err
	}
	for _, x := range threads {
		_, err := t.tx.Exec(ctx, what, `INSERT INTO threads (pull_id, node_id, top, resolved) VALUES (?, ?, ?, ?)`,
			append([]any{pullID}, threadFields(&x)...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// sameThreads compares without regard to order.
func sameThreads(a, b []work.Thread) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(x work.Thread) bool { return !slices.Contains(a, x) })
}

// ListThreads gives the threads of a pull request, oldest first.
func (t pullRows) ListThreads(ctx context.Context, pullID int64) ([]work.Thread, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list threads of pull request %d", pullID), scanThread,
		`SELECT node_id, top, resolved FROM threads WHERE pull_id = ? ORDER BY top, node_id`, pullID)
}

// SetLost records which commit a pull request's branch lacks since somebody
// rewrote it; "" when its history is whole. What was accepted before counts no
// more.
func (t pullRows) SetLost(ctx context.Context, pullID int64, oid string) error {
	return t.tx.One(ctx, fmt.Sprintf("record what the branch of pull request %d lost", pullID), ErrNotFound,
		`UPDATE pull_requests SET lost_oid = ?, accepted_oid = '' WHERE id = ?`, oid, pullID)
}

// AcceptHead records that the work resumes from a head of a rewritten branch. It
// is ErrStale when the branch is not known to be rewritten.
func (t pullRows) AcceptHead(ctx context.Context, pullID int64, oid string) error {
	return t.tx.One(ctx, fmt.Sprintf("accept head %s of pull request %d", oid, pullID), ErrStale,
		`UPDATE pull_requests SET accepted_oid = ? WHERE id = ? AND lost_oid <> ''`, oid, pullID)
}

// ListRewritten gives the work items whose open pull requests wait, rewritten,
// for a person's word.
func (t pullRows) ListRewritten(ctx context.Context, repoID int64) ([]int64, error) {
	return rows.List(ctx, t.tx, "list rewritten pull requests", rows.ScanID,
		`SELECT item_id FROM pull_requests WHERE repo_id = ? AND state = 'open' AND lost_oid <> '' AND accepted_oid = '' AND item_id IS NOT NULL`, repoID)
}
