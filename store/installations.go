package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ListInstallations returns the installations that use this database, oldest first.
func (t *Tx) ListInstallations(ctx context.Context) ([]work.Installation, error) {
	scan := func(row scanner) (i work.Installation, err error) { return i, row.Scan(&i.ID, timeOf(&i.Since)) }
	return listRows(ctx, t, "list installations", scan, `SELECT id, since FROM installations WHERE since > 0 ORDER BY since, id`)
}

// PutInstallation stores that an installation uses this database. One that is known keeps its beginning.
func (t *Tx) PutInstallation(ctx context.Context, i work.Installation) error {
	return t.write(ctx, "put installation "+i.ID, `INSERT INTO installations (id, since) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET since = excluded.since WHERE installations.since = 0`, i.ID, t.stamp(i.Since))
}

// ForgetInstallation stores that another installation is gone: only what it writes from now on counts, by the
// clock of GitHub if that is ahead. It returns false if no sign of it was read.
func (t *Tx) ForgetInstallation(ctx context.Context, id string, at time.Time) (bool, error) {
	n, err := t.exec(ctx, "forget installation "+id, `INSERT INTO installations (id, since, gone) SELECT installation, 0, CASE WHEN MAX(at) > ? THEN MAX(at) ELSE ? END FROM signs WHERE installation = ? GROUP BY installation
		ON CONFLICT (id) DO UPDATE SET gone = excluded.gone`, t.stamp(at), t.stamp(at), id)
	return n > 0, err
}

// PutSign stores a sign of another installation if it is newer than the stored one.
func (t *Tx) PutSign(ctx context.Context, s work.Sign) error {
	return t.write(ctx, "put sign of installation "+s.ID, `INSERT INTO signs (repo_id, installation, at, url) VALUES (?, ?, ?, ?)
		ON CONFLICT (repo_id, installation) DO UPDATE SET at = excluded.at, url = excluded.url WHERE excluded.at > signs.at`, s.RepoID, s.ID, millis(s.At), s.URL)
}

// KnownSign is a sign, and when a person said that its installation is gone; zero: nobody did.
type KnownSign struct {
	work.Sign
	Gone time.Time
}

// ListSigns returns the signs of other installations, newest first.
func (t *Tx) ListSigns(ctx context.Context) ([]KnownSign, error) {
	scan := func(row scanner) (s KnownSign, err error) {
		return s, row.Scan(&s.RepoID, &s.ID, timeOf(&s.At), &s.URL, timeOf(&s.Gone))
	}
	return listRows(ctx, t, "list signs of other installations", scan, `SELECT s.repo_id, s.installation, s.at, s.url, COALESCE(i.gone, 0)
		FROM signs s LEFT JOIN installations i ON i.id = s.installation ORDER BY s.at DESC, s.installation`)
}
