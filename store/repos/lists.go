package repos

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/store/rows"
)

// ListPage is a page of a list that was not taken in yet.
type ListPage struct {
	Begun time.Time // when the first page of the list was read
	URL   string
	Items string // in JSON
}

func scanListPage(row rows.Row) (p ListPage, err error) {
	return p, row.Scan(rows.TimeOf(&p.Begun), &p.URL, &p.Items)
}

// ListPages gives the kept pages of a list, in order.
func (t Rows) ListPages(ctx context.Context, repoID int64, list string) ([]ListPage, error) {
	return rows.List(ctx, t.tx, "list the pages of "+list, scanListPage,
		`SELECT begun_at, url, items FROM list_pages WHERE repo_id = ? AND list = ? ORDER BY page`, repoID, list)
}

// PutPages keeps pages of a list behind so many of its first ones, instead of all that were
// kept behind those.
func (t Rows) PutPages(ctx context.Context, repoID int64, list string, behind int, pages []ListPage) error {
	if _, err := t.tx.Exec(ctx, "drop pages of "+list, `DELETE FROM list_pages WHERE repo_id = ? AND list = ? AND page >= ?`, repoID, list, behind); err != nil {
		return err
	}
	for i, p := range pages {
		_, err := t.tx.Exec(ctx, "keep a page of "+list, `INSERT INTO list_pages (repo_id, list, page, begun_at, url, items) VALUES (?, ?, ?, ?, ?, ?)`,
			repoID, list, behind+i, t.tx.Stamp(p.Begun), p.URL, p.Items)
		if err != nil {
			return err
		}
	}
	return nil
}
