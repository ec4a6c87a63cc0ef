package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// PutBox stores GitHub's merge box of a pull request. If only At or the order of the checks differs
// from the stored box, nothing is written, so At is when GitHub first showed this state. Otherwise
// the pull request is decided again.
func (t *Tx) PutBox(ctx context.Context, pullID int64, box merging.Box) error {
	text, err := t.boxText(box)
	if err != nil {
		return fmt.Errorf("put the merge box of pull request %d: %w", pullID, err)
	}
	return t.changeReview(ctx, pullID, "merge box", `box_at = ?2, box = ?3`, `box <> ?3`, t.stamp(box.At), text)
}

// boxText returns a box as it is stored and compared. Each of its texts is cleaned separately,
// because a secret may look different when quoted in JSON.
func (t *Tx) boxText(box merging.Box) (string, error) {
	box.Checks = slices.Clone(box.Checks)
	sorted.By(box.Checks, func(a, b merging.Check) int { return cmp.Compare(a.Name, b.Name) })
	raw, err := json.Marshal(box)
	if err != nil {
		return "", err
	}
	var parts any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // ids are too long for a float
	if err := in.Decode(&parts); err != nil {
		return "", err
	}
	clean, err := json.Marshal(cleaned(parts, t.clean))
	return string(clean), err
}

func cleaned(v any, clean func(string) string) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleaned(v[i], clean)
		}
	case map[string]any:
		for key := range v {
			v[key] = cleaned(v[key], clean)
		}
	}
	return v
}

// GetBox returns the merge box of a pull request. A stored box that cannot be parsed counts as
// missing, and is read from GitHub again.
func (t *Tx) GetBox(ctx context.Context, pullID int64) (box merging.Box, ok bool, err error) {
	var text string
	scan := func(row scanner) (at time.Time, err error) { return at, row.Scan(timeOf(&at), &text) }
	at, ok, err := findRow(ctx, t, fmt.Sprintf("get the merge box of pull request %d", pullID), scan,
		`SELECT box_at, box FROM pull_reviews WHERE pull_id = ? AND box <> ''`, pullID)
	if err != nil || !ok || json.Unmarshal([]byte(text), &box) != nil {
		return merging.Box{}, false, err
	}
	box.At = at
	return box, true, nil
}

// AddMergeApproval stores a person's approval to merge a head, and reports whether it is new. A
// comment approves a head once.
func (t *Tx) AddMergeApproval(ctx context.Context, w merging.MergeApproval) (bool, error) {
	what := fmt.Sprintf("add the word that pull request %d may be merged", w.PullID)
	n, err := t.exec(ctx, what,
		`INSERT INTO merge_words (pull_id, head, merge_base, comment_id, by_id, by_login, by_bot, url, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (pull_id, head, comment_id) DO NOTHING`,
		w.PullID, w.Head, w.MergeBase, w.CommentID, w.By.ID, w.By.Login, w.By.Bot, w.URL, t.stamp(w.At))
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.MarkReviewsChanged(ctx, w.PullID)
}

// DropMergeApproval deletes the approval that a comment gave to merge a head.
func (t *Tx) DropMergeApproval(ctx context.Context, pullID int64, head string, commentID int64) error {
	what := fmt.Sprintf("drop a word that pull request %d may be merged", pullID)
	n, err := t.exec(ctx, what, `DELETE FROM merge_words WHERE pull_id = ? AND head = ? AND comment_id = ?`, pullID, head, commentID)
	if err != nil || n == 0 {
		return err
	}
	return t.MarkReviewsChanged(ctx, pullID)
}

// ListMergeApprovals returns the approvals to merge a pull request, of any head, earliest first.
func (t *Tx) ListMergeApprovals(ctx context.Context, pullID int64) ([]merging.MergeApproval, error) {
	scan := func(row scanner) (w merging.MergeApproval, err error) {
		return w, row.Scan(&w.PullID, &w.Head, &w.MergeBase, &w.CommentID, &w.By.ID, &w.By.Login, &w.By.Bot, &w.URL, timeOf(&w.At))
	}
	return listRows(ctx, t, fmt.Sprintf("list the words that pull request %d may be merged", pullID), scan,
		`SELECT pull_id, head, merge_base, comment_id, by_id, by_login, by_bot, url, at FROM merge_words WHERE pull_id = ? ORDER BY at, comment_id`, pullID)
}

// SetMergeTrouble stores why a head of a pull request is not merged. It replaces the reason of any
// other head. If why is empty, it deletes the stored reason for this head, or for any head if head
// is empty. Unchanged values are not written; a change makes the plan decide the pull request
// again.
func (t *Tx) SetMergeTrouble(ctx context.Context, pullID int64, head string, why work.Reason) error {
	if !why.None() {
		why = why.Map(t.clean)
		return t.changeReview(ctx, pullID, "merge trouble", `trouble_head = ?2, trouble_why = ?3`, `trouble_head <> ?2 OR trouble_why <> ?3`, head, reasonOf(&why))
	}
	return t.write(ctx, fmt.Sprintf("forget why pull request %d is not merged", pullID),
		`UPDATE pull_reviews SET trouble_head = '', trouble_why = '', look = look + 1 WHERE pull_id = ? AND trouble_why <> '' AND ? IN ('', trouble_head)`, pullID, head)
}

// GetMergeTrouble returns why a pull request is not merged, and the head it is about. The reason is
// zero if there is none.
func (t *Tx) GetMergeTrouble(ctx context.Context, pullID int64) (head string, why work.Reason, err error) {
	scan := func(row scanner) (head string, err error) { return head, row.Scan(&head, reasonOf(&why)) }
	head, _, err = findRow(ctx, t, fmt.Sprintf("get why pull request %d is not merged", pullID), scan,
		`SELECT trouble_head, trouble_why FROM pull_reviews WHERE pull_id = ?`, pullID)
	return head, why, err
}
