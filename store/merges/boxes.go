package merges

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// PutBox stores GitHub's merge box of a pull request. One that says what the stored one
// says, but for when it was read, costs no write, and neither does another order of its
// checks: At is since when it says so. Otherwise the pull request is to be decided again.
func (t Rows) PutBox(ctx context.Context, pullID int64, box merging.Box) error {
	what := fmt.Sprintf("put the merge box of pull request %d", pullID)
	text, err := t.boxText(box)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	n, err := t.tx.Exec(ctx, what,
		`INSERT INTO merge_boxes (pull_id, at, read_at, data) VALUES (?1, ?2, ?2, ?3)
		 ON CONFLICT DO UPDATE SET at = excluded.at, read_at = excluded.read_at, data = excluded.data WHERE data <> excluded.data`,
		pullID, t.tx.Stamp(box.At), text)
	if err != nil || n == 0 {
		return err
	}
	return t.look(ctx, pullID)
}

// boxText is a box as it is stored and compared. Each of its texts is cleaned by itself:
// what is quoted in JSON may not look like the secret that it is.
func (t Rows) boxText(box merging.Box) (string, error) {
	box.Checks = slices.Clone(box.Checks)
	slices.SortStableFunc(box.Checks, func(a, b merging.Check) int { return cmp.Compare(a.Name, b.Name) })
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
	clean, err := json.Marshal(cleaned(parts, t.tx.Clean))
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

// GetBox gives the merge box of a pull request. One that cannot be read is none: it is read
// from GitHub again.
func (t Rows) GetBox(ctx context.Context, pullID int64) (box merging.Box, ok bool, err error) {
	var text string
	scan := func(row rows.Row) (at time.Time, err error) { return at, row.Scan(rows.TimeOf(&at), &text) }
	at, ok, err := rows.Find(ctx, t.tx, fmt.Sprintf("get the merge box of pull request %d", pullID), scan,
		`SELECT at, data FROM merge_boxes WHERE pull_id = ?`, pullID)
	if err != nil || !ok || json.Unmarshal([]byte(text), &box) != nil {
		return merging.Box{}, false, err
	}
	box.At = at
	return box, true, nil
}

// MarkBoxRead stores that the merge box of a pull request was read, for a pass that cannot
// read all of them: the next one begins with others.
func (t Rows) MarkBoxRead(ctx context.Context, pullID int64, at time.Time) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("note that the merge box of pull request %d was read", pullID),
		`UPDATE merge_boxes SET read_at = ? WHERE pull_id = ?`, t.tx.Stamp(at), pullID)
	return err
}

// ListBoxReads gives when the merge boxes of a repository's pull requests that may be merged
// were read last, as far as MarkBoxRead and PutBox stored it, by pull request.
func (t Rows) ListBoxReads(ctx context.Context, repoID int64) (map[int64]time.Time, error) {
	all := map[int64]time.Time{}
	scan := func(row rows.Row) (id int64, err error) {
		var at time.Time
		err = row.Scan(&id, rows.TimeOf(&at))
		all[id] = at
		return id, err
	}
	_, err := rows.List(ctx, t.tx, "list when merge boxes were read", scan, `SELECT pull_id, read_at FROM merge_boxes WHERE pull_id IN (`+Candidates+`)`, repoID)
	return all, err
}
