package merges

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// AddMergeWord stores a person's word that a head may be merged, and tells whether it is
// new: each comment says it once of a head.
func (t Rows) AddMergeWord(ctx context.Context, w merging.Word) (bool, error) {
	what := fmt.Sprintf("add the word that pull request %d may be merged", w.PullID)
	n, err := t.tx.Exec(ctx, what,
		`INSERT INTO merge_words (pull_id, head, comment_id, by_id, by_login, by_bot, url, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		w.PullID, w.Head, w.CommentID, w.By.ID, w.By.Login, w.By.Bot, w.URL, t.tx.Stamp(w.At))
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.look(ctx, w.PullID)
}

// ListMergeWords gives what people said of a pull request, of whichever head, the earliest
// first.
func (t Rows) ListMergeWords(ctx context.Context, pullID int64) ([]merging.Word, error) {
	scan := func(row rows.Row) (w merging.Word, err error) {
		return w, row.Scan(&w.PullID, &w.Head, &w.CommentID, &w.By.ID, &w.By.Login, &w.By.Bot, &w.URL, rows.TimeOf(&w.At))
	}
	return rows.List(ctx, t.tx, fmt.Sprintf("list the words that pull request %d may be merged", pullID), scan,
		`SELECT pull_id, head, comment_id, by_id, by_login, by_bot, url, at FROM merge_words WHERE pull_id = ? ORDER BY at, comment_id`, pullID)
}

// SetMergeTrouble stores why a head of a pull request is not merged, in place of what was
// stored of any. No reason lifts that of this head; with no head either, that of any. The
// same again costs no write; otherwise the pull request is to be decided again.
func (t Rows) SetMergeTrouble(ctx context.Context, pullID int64, head string, why work.Reason) error {
	what := fmt.Sprintf("set why pull request %d is not merged", pullID)
	query, args := `DELETE FROM merge_trouble WHERE pull_id = ?1 AND ?2 IN ('', head)`, []any{pullID, head}
	if !why.None() {
		why = why.Map(t.tx.Clean)
		query, args = `INSERT INTO merge_trouble (pull_id, head, why, at) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT DO UPDATE SET head = excluded.head, why = excluded.why, at = excluded.at WHERE head <> excluded.head OR why <> excluded.why`,
			append(args, rows.ReasonOf(&why), rows.Millis(t.tx.Now))
	}
	n, err := t.tx.Exec(ctx, what, query, args...)
	if err != nil || n == 0 {
		return err
	}
	return t.look(ctx, pullID)
}

// GetMergeTrouble gives why a pull request is not merged, and which head that is said of;
// no reason where there is none.
func (t Rows) GetMergeTrouble(ctx context.Context, pullID int64) (head string, why work.Reason, err error) {
	scan := func(row rows.Row) (head string, err error) { return head, row.Scan(&head, rows.ReasonOf(&why)) }
	head, _, err = rows.Find(ctx, t.tx, fmt.Sprintf("get why pull request %d is not merged", pullID), scan,
		`SELECT head, why FROM merge_trouble WHERE pull_id = ?`, pullID)
	return head, why, err
}
