package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

const pullColumns = `repo_id, item_id, number, node_id, url, title, state, branch, head_oid, base,
	mergeable, rollup, merge_commit, updated_at, fingerprint, details_at, whole_at, created_at, files, lost_oid, accepted_oid, label_changes,
	draft, author_id, author_login, author_bot, cross_repo, head_repo, base_oid, merge_base, base_changed, head_since, checks_since,
	copilot_assigned, agents_allowed`

func pullFields(p *work.PullRequest) []any {
	return []any{
		&p.RepoID,
		refOf(&p.ItemID),
		&p.Number, &p.NodeID, &p.URL, &p.Title, &p.State, &p.Branch, &p.HeadOID, &p.Base,
		&p.Mergeable, &p.Rollup, &p.MergeCommit,
		timeOf(&p.UpdatedAt),
		&p.Fingerprint,
		timeOf(&p.DetailsAt),
		timeOf(&p.WholeAt),
		timeOf(&p.CreatedAt),
		listOf(&p.Files),
		&p.LostOID, &p.AcceptedOID,
		&p.LabelChanges,
		&p.Draft, &p.Author.ID, &p.Author.Login, &p.Author.Bot, &p.CrossRepo, &p.HeadRepo, &p.BaseOID, &p.MergeBase,
		timeOf(&p.BaseChanged),
		timeOf(&p.HeadSince),
		timeOf(&p.ChecksSince),
		&p.Beside.Assigned, &p.Beside.Allowed,
	}
}

func scanPull(row scanner) (p work.PullRequest, err error) {
	return p, row.Scan(pullRow(&p)...)
}

// pullRow are the fields of a row that selectPull selects.
func pullRow(p *work.PullRequest) []any {
	return slices.Concat([]any{&p.ID}, pullFields(p), []any{timeOf(&p.EndedAt), timeOf(&p.NotBefore), &p.Failures, &p.LastError})
}

// scanPulls returns a scanPull for many rows, which reuses its variables for each row.
func scanPulls() func(scanner) (work.PullRequest, error) {
	var p work.PullRequest
	fields := pullRow(&p)
	return func(row scanner) (work.PullRequest, error) {
		err := row.Scan(fields...)
		return p, err
	}
}

// selectPull selects pull requests, each with what the backlog has of it if it could not be read.
const (
	selectPull = `SELECT id, ` + pullColumns + `, ended_at, COALESCE((SELECT at ` + unreadPull + `), 0), COALESCE((SELECT failures ` + unreadPull + `), 0),
		COALESCE((SELECT why ` + unreadPull + `), '') FROM pull_requests `
	unreadPull = `FROM reading b WHERE b.what = 'backlog' AND b.repo_id = pull_requests.repo_id AND b.key = '' AND b.n = pull_requests.number AND b.failures > 0`
)

// PutPull stores a pull request's whole snapshot by repository and number.
// A known row keeps CreatedAt, LostOID, AcceptedOID and Beside. HeadSince is set to now if the head is new.
func (t *Tx) PutPull(ctx context.Context, p work.PullRequest) (int64, error) {
	what := fmt.Sprintf("put pull request #%d", p.Number)
	if t.readOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	for _, at := range []*time.Time{&p.CreatedAt, &p.HeadSince} {
		if at.IsZero() {
			*at = t.now
		}
	}
	fields := pullFields(&p)
	return getRow(ctx, t, what, scanID,
		`INSERT INTO pull_requests (`+pullColumns+`) VALUES (`+placeholders(len(fields))+`)
		 ON CONFLICT (repo_id, number) DO UPDATE SET item_id = excluded.item_id, node_id = excluded.node_id, url = excluded.url,
		 title = excluded.title, state = excluded.state, branch = excluded.branch, head_oid = excluded.head_oid,
		 base = excluded.base, mergeable = excluded.mergeable,
		 rollup = excluded.rollup, merge_commit = excluded.merge_commit, updated_at = excluded.updated_at,
		 fingerprint = excluded.fingerprint, details_at = excluded.details_at, whole_at = excluded.whole_at, files = excluded.files, label_changes = excluded.label_changes,
		 draft = excluded.draft, author_id = excluded.author_id, author_login = excluded.author_login, author_bot = excluded.author_bot,
		 cross_repo = excluded.cross_repo, head_repo = excluded.head_repo, base_oid = excluded.base_oid, merge_base = excluded.merge_base, base_changed = excluded.base_changed, checks_since = excluded.checks_since,
		 head_since = CASE pull_requests.head_oid WHEN excluded.head_oid THEN pull_requests.head_since ELSE ? END
		 RETURNING id`, append(fields, millis(t.now))...)
}

// GetPull returns a tracked pull request by its number.
func (t *Tx) GetPull(ctx context.Context, repoID int64, number int) (work.PullRequest, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("get pull request #%d", number), scanPull,
		selectPull+`WHERE repo_id = ? AND number = ?`, repoID, number)
}

// FindPullOfItem returns the newest pull request of a work item.
func (t *Tx) FindPullOfItem(ctx context.Context, itemID int64) (work.PullRequest, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find pull request of item %d", itemID), scanPull,
		selectPull+`WHERE item_id = ? ORDER BY number DESC LIMIT 1`, itemID)
}

// ListOpenPullsOf returns the numbers of the open pull requests of an issue's work items, of each item its newest. One that
// a command closes is none, although GitHub does not show that yet.
func (t *Tx) ListOpenPullsOf(ctx context.Context, repoID int64, issue int) ([]int, error) {
	return listRows(ctx, t, fmt.Sprintf("list open pull requests of #%d", issue), scanCount,
		`SELECT p.number FROM work_items i JOIN pull_requests p ON p.item_id = i.id WHERE i.repo_id = ? AND i.number = ? AND i.state <> 'closed' AND p.state = 'open'
		 AND NOT EXISTS (SELECT 1 FROM pull_requests n WHERE n.item_id = i.id AND n.number > p.number) ORDER BY p.number`, repoID, issue)
}

// ListWholeOpenPulls returns the open tracked pull requests of a repository, with all their fields,
// by number.
func (t *Tx) ListWholeOpenPulls(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return listRows(ctx, t, "list open pull requests", scanPulls(), selectPull+`WHERE repo_id = ? AND state = 'open' ORDER BY number`, repoID)
}

// ListMergeCandidates returns the pull requests of a repository that may be merged, by number: see
// mergeCandidates.
func (t *Tx) ListMergeCandidates(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return listRows(ctx, t, "list who may be merged", scanPull, selectPull+`WHERE id IN (`+mergeCandidates+`) ORDER BY number`, repoID)
}

// ForgetDetails makes the next pass read the details of a pull request again.
func (t *Tx) ForgetDetails(ctx context.Context, id int64) error {
	return t.execOne(ctx, fmt.Sprintf("have the details of pull request %d read again", id), ErrNotFound, `UPDATE pull_requests SET fingerprint = '' WHERE id = ?`, id)
}

// ReadSoon lets a pull request that could not be read be tried again at once.
func (t *Tx) ReadSoon(ctx context.Context, id int64) error {
	return t.write(ctx, fmt.Sprintf("read pull request %d again", id), `UPDATE reading SET at = 0
		WHERE what = 'backlog' AND repo_id = (SELECT repo_id FROM pull_requests WHERE id = ?1) AND n = (SELECT number FROM pull_requests WHERE id = ?1)`, id)
}

// PutThreads replaces the threads of a pull request. Threads that differ only in their order
// are not written.
func (t *Tx) PutThreads(ctx context.Context, pullID int64, threads []work.Thread) error {
	what := fmt.Sprintf("put threads of pull request %d", pullID)
	threads = sorted.Values(slices.Values(threads), func(a, b work.Thread) int {
		return cmp.Or(cmp.Compare(a.Top, b.Top), cmp.Compare(a.NodeID, b.NodeID))
	})
	text, err := valueJSON(threads, len(threads) == 0, "[]")
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return t.write(ctx, what, `UPDATE pull_requests SET threads = ?1 WHERE id = ?2 AND threads <> ?1`, text, pullID)
}

// ListThreads returns the threads of a pull request, oldest first.
func (t *Tx) ListThreads(ctx context.Context, pullID int64) (threads []work.Thread, err error) {
	what := fmt.Sprintf("list threads of pull request %d", pullID)
	text, ok, err := findRow(ctx, t, what, scanString, `SELECT threads FROM pull_requests WHERE id = ?`, pullID)
	if err == nil && ok {
		if err = scanJSON(text, &threads, "[]"); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}
	return threads, err
}

// SetLost records which commit a rewritten branch lacks; "" if its history is whole. It clears
// AcceptedOID.
func (t *Tx) SetLost(ctx context.Context, pullID int64, oid string) error {
	return t.execOne(ctx, fmt.Sprintf("record what the branch of pull request %d lost", pullID), ErrNotFound,
		`UPDATE pull_requests SET lost_oid = ?, accepted_oid = '' WHERE id = ?`, oid, pullID)
}

// AcceptHead records that the work continues from this head of a rewritten branch. It fails with
// ErrStale if the branch is not recorded as rewritten.
func (t *Tx) AcceptHead(ctx context.Context, pullID int64, oid string) error {
	return t.execOne(ctx, fmt.Sprintf("accept head %s of pull request %d", oid, pullID), ErrStale,
		`UPDATE pull_requests SET accepted_oid = ? WHERE id = ? AND lost_oid <> ''`, oid, pullID)
}

// SetAssigned records whether Copilot is assigned to a pull request.
func (t *Tx) SetAssigned(ctx context.Context, pullID int64, assigned bool) error {
	return t.execOne(ctx, fmt.Sprintf("record GitHub's own agent on pull request %d", pullID), ErrNotFound,
		`UPDATE pull_requests SET copilot_assigned = ? WHERE id = ?`, assigned, pullID)
}

// AllowAgents records that a person lets GitHub's own agents work on a pull request beside ours.
func (t *Tx) AllowAgents(ctx context.Context, pullID int64) error {
	return t.execOne(ctx, fmt.Sprintf("let other agents work on pull request %d", pullID), ErrNotFound,
		`UPDATE pull_requests SET agents_allowed = ? WHERE id = ?`, true, pullID)
}

// ListRewritten returns the work items whose open pull requests were rewritten and wait for a
// person.
func (t *Tx) ListRewritten(ctx context.Context, repoID int64) ([]int64, error) {
	return listRows(ctx, t, "list rewritten pull requests", scanID,
		`SELECT item_id FROM pull_requests WHERE repo_id = ? AND state = 'open' AND lost_oid <> '' AND accepted_oid = '' AND item_id IS NOT NULL`, repoID)
}

// ListDrafts returns the work items whose open pull requests are drafts.
func (t *Tx) ListDrafts(ctx context.Context, repoID int64) ([]int64, error) {
	return listRows(ctx, t, "list drafts", scanID,
		`SELECT item_id FROM pull_requests WHERE repo_id = ? AND state = 'open' AND draft = ? AND item_id IS NOT NULL`, repoID, true)
}

// OpenPull is what a pass reads of each open pull request, to decide whether to read its details.
// In most passes it reads none, and a whole row takes four times as long. Its fields are those of
// work.PullRequest, and ReadAt.
type OpenPull struct {
	ItemID      int64
	Number      int
	NodeID      string
	Fingerprint string
	ReadAt      time.Time // when its details were last read whole; zero: never
}

// OpenPullOf returns the OpenPull of a whole row.
func OpenPullOf(p work.PullRequest) OpenPull {
	return OpenPull{
		ItemID: p.ItemID, Number: p.Number, NodeID: p.NodeID, Fingerprint: p.Fingerprint, ReadAt: p.ReadAt(),
	}
}

// readWholeAt is when the details of a pull request were last read whole.
const readWholeAt = `CASE WHEN whole_at > 0 THEN whole_at ELSE details_at END`

// ListOpenPulls returns the open tracked pull requests of a repository, by number, as OpenPull.
func (t *Tx) ListOpenPulls(ctx context.Context, repoID int64) ([]OpenPull, error) {
	var p OpenPull
	into := []any{refOf(&p.ItemID), &p.Number, &p.NodeID, &p.Fingerprint, timeOf(&p.ReadAt)}
	scan := func(row scanner) (OpenPull, error) {
		err := row.Scan(into...)
		return p, err
	}
	return listRows(ctx, t, "list open pull requests", scan,
		`SELECT item_id, number, node_id, fingerprint, `+readWholeAt+` FROM pull_requests WHERE repo_id = ? AND state = 'open' ORDER BY number`, repoID)
}
