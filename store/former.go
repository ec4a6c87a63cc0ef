package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Another machine may have worked on a repository in the meantime. What is known here of its
// issues, pull requests and comments is old then, and what was left to do may be done: the
// repository begins with a row of its own, as with a database that was lost. GitHub tells
// all of it. The former row keeps what is known here alone: what turns cost, and their log.

// former is what makes a row of a repository a former one. Work items and turns are over, so
// that nobody carries them on; and what is found by a key that GitHub has, too, goes.
var former = []string{
	`UPDATE turns SET step = 'superseded', blocked = 0, not_before = 0, wait_reason = '', updated_at = @now, ended_at = @now WHERE repo_id = @repo AND ` + unfinished,
	`UPDATE work_items SET state = 'closed', state_since = @now, reason = '' WHERE repo_id = @repo AND ` + openItem,
	`UPDATE pull_requests SET state = 'closed' WHERE repo_id = @repo AND state = 'open'`,
	`UPDATE events SET processed_at = @now, outcome = 'superseded' WHERE repo_id = @repo AND processed_at = 0`,
	`DELETE FROM actions WHERE repo_id = @repo`,
	`UPDATE repo_merging SET repo_id = @new WHERE repo_id = @repo AND tell_at > 0`, // nobody else knows of it
	`DELETE FROM repo_merging WHERE repo_id = @repo`,
	`DELETE FROM shares WHERE repo_id = @repo`,
}

// BeginAgain gives a repository a new row, with nothing in it but which repository it is, and
// has the other one be a former one. One of which nothing was read yet is left as it is, but for
// a stop of merging that the repository itself tells.
func (t *Tx) BeginAgain(ctx context.Context, r work.Repo) (work.Repo, error) {
	if r.IssuesSince.IsZero() {
		_, err := t.exec(ctx, "forget a stop that was told", `DELETE FROM repo_merging WHERE repo_id = ? AND tell_at = 0`, r.ID)
		return r, err
	}
	renewed, err := t.RenewRepo(ctx, r)
	if err != nil {
		return work.Repo{}, err
	}
	what, args := fmt.Sprintf("set aside what is known of repository %d", r.ID), []any{sql.Named("now", millis(t.now)), sql.Named("repo", r.ID), sql.Named("new", renewed.ID)}
	for _, statement := range former {
		if _, err := t.exec(ctx, what, statement, args...); err != nil {
			return work.Repo{}, err
		}
	}
	return renewed, nil
}
