package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// PutPullEnd stores how a pull request ended; of one that was reopened, how it ended last.
func (t *Tx) PutPullEnd(ctx context.Context, e work.PullEnd) error {
	_, err := t.exec(ctx, fmt.Sprintf("put the end of pull request %d", e.PullID),
		`INSERT INTO pull_outcomes (pull_id, ended_at, commits, human_commits, read_at) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (pull_id) DO UPDATE SET ended_at = excluded.ended_at, commits = excluded.commits, human_commits = excluded.human_commits, read_at = excluded.read_at`,
		e.PullID, timeOf(&e.At), e.Commits, e.Human, timeOf(&e.ReadAt))
	return err
}

// PullFacts is what is known of one of our pull requests, to judge what became of it.
type PullFacts struct {
	ID      int64
	RepoID  int64
	Repo    work.RepoName
	ItemID  int64
	Issue   int
	Flow    work.Flow
	Number  int
	Title   string
	URL     string
	State   work.PullState
	Opened  time.Time
	Updated time.Time    // GitHub's stamp
	Shown   bool         // GitHub answered for it when it was asked last
	Touched time.Time    // when a person last said or did something, as far as that is remembered
	End     work.PullEnd // its PullID is 0 where nothing was read of its end
}

// Ended is when a pull request ended; zero: it is open.
func (p PullFacts) Ended() time.Time {
	switch {
	case p.State == work.PullOpen:
		return time.Time{}
	case p.End.At.IsZero():
		return p.Updated
	}
	return p.End.At
}

// Outcome judges it.
func (p PullFacts) Outcome(now time.Time) work.Outcome {
	return work.OutcomeOf(p.State, p.Shown, p.Opened, p.Touched, now)
}

// ZeroTouch reports whether it was accepted, and known is whether people committed nothing.
func (p PullFacts) ZeroTouch() (zero, known bool) {
	known = p.State == work.PullMerged && p.End.PullID != 0 && p.End.Human >= 0
	return known && p.End.Human == 0, known
}

func scanPullFacts(row scanner) (p PullFacts, err error) {
	var failures int
	err = row.Scan(&p.ID, &p.RepoID, nameOf(&p.Repo), &p.ItemID, &p.Issue, &p.Flow, &p.Number, &p.Title, &p.URL, &p.State,
		timeOf(&p.Opened), timeOf(&p.Updated), &failures, timeOf(&p.Touched),
		&p.End.PullID, timeOf(&p.End.At), &p.End.Commits, &p.End.Human, timeOf(&p.End.ReadAt))
	p.Shown = failures == 0
	return p, err
}

// doneByPeople says that an event, named e, is something that people said or did: bots, our own
// words and what we found out ourselves are not.
var doneByPeople = `e.kind IN ('review', 'issue', 'summary', 'command', 'head', 'labelled', 'reopened') AND e.author_bot = 0
	AND e.outcome NOT IN (` + quotedList(work.OutcomeOwn, work.OutcomeOwnEdited, work.OutcomeOthers) + `)`

// Pulls gives the pull requests that we opened and that are open, or ended on the day of since
// or later; in the order of their numbers in each repository. Those of others, which are only
// reviewed, are none.
func (t *Tx) Pulls(ctx context.Context, since time.Time) ([]PullFacts, error) {
	return listRows(ctx, t, "list what became of pull requests", scanPullFacts,
		`SELECT p.id, p.repo_id, r.name, i.id, i.number, i.flow, p.number, p.title, p.url, p.state, p.created_at, p.updated_at, p.failures,
			coalesce((SELECT max(e.created_at) FROM events e WHERE e.repo_id = p.repo_id AND e.number = p.number AND `+doneByPeople+`), 0),
			coalesce(o.pull_id, 0), coalesce(o.ended_at, 0), coalesce(o.commits, 0), coalesce(o.human_commits, -1), coalesce(o.read_at, 0)
		 FROM pull_requests p JOIN work_items i ON i.id = p.item_id JOIN repositories r ON r.id = p.repo_id
		 LEFT JOIN pull_outcomes o ON o.pull_id = p.id
		 WHERE i.flow <> ? AND (p.state = ? OR coalesce(nullif(o.ended_at, 0), p.updated_at) >= ?)
		 ORDER BY r.name_key, p.number`, work.FlowReview, work.PullOpen, millis(since.UTC().Truncate(24*time.Hour)))
}

// MarkKind says what a Mark is.
type MarkKind string

// The kinds of marks.
const (
	MarkTurn    MarkKind = "turn"
	MarkVerdict MarkKind = "verdict"
	MarkPerson  MarkKind = "person" // somebody said or did something
)

// Mark is something that happened in the life of a work item.
type Mark struct {
	ItemID int64
	What   MarkKind
	Kind   string // of a turn; of an event
	Who    string // a reviewer; who said it
	Says   string // the step of a turn; what a verdict decides
	At     time.Time
	End    time.Time // of a turn that ended
}

// Marks gives what happened in the lives of work items and was not pruned, the oldest first.
func (t *Tx) Marks(ctx context.Context, items []int64) ([]Mark, error) {
	scan := func(row scanner) (m Mark, err error) {
		return m, row.Scan(&m.ItemID, &m.What, &m.Kind, &m.Who, &m.Says, timeOf(&m.At), timeOf(&m.End))
	}
	var all []Mark
	for _, query := range []string{
		`SELECT u.item_id, 'turn', u.kind, u.reviewer, u.step, u.claimed_at, u.ended_at FROM turns u WHERE u.item_id IN (%s)`,
		`SELECT p.item_id, 'verdict', '', CASE v.reviewer WHEN '' THEN v.by_login ELSE v.reviewer END, v.decision, v.at, 0
			FROM pull_requests p JOIN reviews v ON v.pull_id = p.id WHERE v.kept_from = '' AND p.item_id IN (%s)`,
		`SELECT p.item_id, 'person', e.kind, e.author_login, e.state, e.created_at, 0
			FROM pull_requests p JOIN events e ON e.repo_id = p.repo_id AND e.number = p.number WHERE ` + doneByPeople + ` AND p.item_id IN (%s)`,
	} {
		found, err := listIn(ctx, t, "list marks", scan, query, items)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Mark) int { return a.At.Compare(b.At) })
	return all, nil
}
