package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const pauseColumns = `repo_id, number, label_id, began_at, ended_at, by_login`

func pauseFields(p *work.Pause) []any {
	return []any{
		&p.RepoID, &p.Number,
		refOf(&p.LabelID),
		timeOf(&p.Began),
		timeOf(&p.Ended),
		&p.By,
	}
}

func scanPause(row scanner) (p work.Pause, err error) {
	return p, row.Scan(pauseFields(&p)...)
}

const selectPause = `SELECT ` + pauseColumns + ` FROM pauses `

// PutPause stores a pause from a timeline, or one that a command begins. A known pause gets its end, unless a command ended it
// before.
func (t *Tx) PutPause(ctx context.Context, p work.Pause) error {
	return t.write(ctx, fmt.Sprintf("put pause of #%d", p.Number),
		`INSERT INTO pauses (`+pauseColumns+`) VALUES (`+placeholders(6)+`)
		 ON CONFLICT (repo_id, number, label_id) DO UPDATE SET ended_at = excluded.ended_at
		 WHERE pauses.ended_at = 0 AND excluded.ended_at <> 0`, pauseFields(&p)...)
}

// BeginPause begins a pause whose label no timeline shows yet, unless one is open.
func (t *Tx) BeginPause(ctx context.Context, p work.Pause) error {
	open, err := t.ListPauses(ctx, p.RepoID, p.Number)
	if err != nil || slices.ContainsFunc(open, work.Pause.Open) {
		return err
	}
	p.LabelID, p.Ended = 0, time.Time{}
	return t.PutPause(ctx, p)
}

// EndPauses ends the open pauses of an issue or pull request that began before at: all, or only
// those that a command began.
func (t *Tx) EndPauses(ctx context.Context, repoID int64, number int, which WhichPauses, at time.Time) error {
	return t.write(ctx, fmt.Sprintf("end pauses of #%d", number),
		`UPDATE pauses SET ended_at = ? WHERE repo_id = ? AND number = ? AND ended_at = 0 AND began_at <= ? AND (label_id IS NULL OR ? = 1)`,
		millis(at), repoID, number, millis(at), which == PausesAll)
}

// WhichPauses selects pauses by what began them.
type WhichPauses string

// The choices of EndPauses.
const (
	PausesAll       WhichPauses = "all"
	PausesByCommand WhichPauses = "by command"
)

// ListPauses returns the pauses of an issue or pull request, oldest first.
func (t *Tx) ListPauses(ctx context.Context, repoID int64, number int) ([]work.Pause, error) {
	return listRows(ctx, t, fmt.Sprintf("list pauses of #%d", number), scanPause,
		selectPause+`WHERE repo_id = ? AND number = ? ORDER BY began_at, id`, repoID, number)
}

// ListOpenPauses returns the open pauses of a repository, oldest first.
func (t *Tx) ListOpenPauses(ctx context.Context, repoID int64) ([]work.Pause, error) {
	return listRows(ctx, t, "list open pauses", scanPause, selectPause+`WHERE repo_id = ? AND ended_at = 0 ORDER BY began_at, id`, repoID)
}
