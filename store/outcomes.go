package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// PutPullEnd stores how a pull request ended. If it was reopened, only its last end is kept.
func (t *Tx) PutPullEnd(ctx context.Context, e work.PullEnd) error {
	return t.execOne(ctx, fmt.Sprintf("put the end of pull request %d", e.PullID), ErrNotFound,
		`UPDATE pull_requests SET ended_at = ?, commits = ?, human_commits = ?, end_read_at = ? WHERE id = ?`,
		timeOf(&e.At), e.Commits, e.Human, t.stamp(e.ReadAt), e.PullID)
}

// PullFacts is the stored state of one of our pull requests, to judge its outcome.
type PullFacts struct {
	work.PullRequest
	Repo    work.RepoName
	Issue   int
	Flow    work.Flow
	Touched time.Time    // time of the last event by a person; events are pruned
	End     work.PullEnd // its PullID is 0 if no end was read
}

// Ended is when the pull request ended; zero: it is open.
func (p PullFacts) Ended() time.Time {
	switch {
	case p.State == work.PullOpen:
		return time.Time{}
	case p.End.At.IsZero():
		return p.UpdatedAt
	}
	return p.End.At
}

// Outcome returns the outcome of the pull request.
func (p PullFacts) Outcome(now time.Time) work.Outcome {
	return work.OutcomeOf(p.State, p.Failures == 0, p.CreatedAt, p.Touched, now)
}

// ZeroTouch reports whether it was merged without commits by people. known is false if that is
// unknown.
func (p PullFacts) ZeroTouch() (zero, known bool) {
	known = p.State == work.PullMerged && p.End.PullID != 0 && p.End.Human >= 0
	return known && p.End.Human == 0, known
}

func scanPullFacts(row scanner) (p PullFacts, err error) {
	return p, row.Scan(append(pullRow(&p.PullRequest), nameOf(&p.Repo), &p.Issue, &p.Flow, timeOf(&p.Touched),
		&p.End.PullID, timeOf(&p.End.At), &p.End.Commits, &p.End.Human, timeOf(&p.End.ReadAt))...)
}

// doneByPeople matches an event, named e, that a person caused: not bots, not our own comments, not
// what we found out ourselves.
var doneByPeople = `e.kind IN ('review', 'issue', 'summary', 'command', 'head', 'labelled', 'reopened') AND e.author_bot = 0
	AND e.outcome NOT IN (` + quotedList(work.OutcomeOwn, work.OutcomeOwnEdited, work.OutcomeOthers) + `)`

// Pulls returns the pull requests that we opened and that are open, or ended on or after the day of
// since, by number in each repository. It excludes other people's pull requests, which are only
// reviewed.
func (t *Tx) Pulls(ctx context.Context, since time.Time) ([]PullFacts, error) {
	return listRows(ctx, t, "list what became of pull requests", scanPullFacts,
		`SELECT p.*, r.name, i.number, i.flow,
			coalesce((SELECT max(e.created_at) FROM events e WHERE e.repo_id = p.repo_id AND e.number = p.number AND `+doneByPeople+`), 0),
			CASE d.end_read_at WHEN 0 THEN 0 ELSE d.id END, d.ended_at, d.commits, d.human_commits, d.end_read_at
		 FROM (`+selectPull+`) p JOIN pull_requests d ON d.id = p.id JOIN work_items i ON i.id = d.item_id JOIN repositories r ON r.id = d.repo_id
		 WHERE i.flow <> ? AND (d.state = ? OR coalesce(nullif(d.ended_at, 0), d.updated_at) >= ?)
		 ORDER BY r.name_key, d.number`, work.FlowReview, work.PullOpen, millis(since.UTC().Truncate(24*time.Hour)))
}
