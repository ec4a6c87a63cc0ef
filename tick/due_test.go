package tick

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// TestNothingDueOpensTheDatabaseOnce: if nothing is due, the check of several repositories uses one
// connection. For each further one SQLite reads the whole schema again.
func TestNothingDueOpensTheDatabaseOnce(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db, err := store.Open(ctx, filepath.Join(dir, "state.db"), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var all []*env.Repo
	err = db.Update(ctx, func(tx *store.Tx) error {
		for i := range 4 {
			row, err := testdb.Repo(ctx, tx, work.RepoName{Host: "github.com", Owner: "octo", Name: fmt.Sprint("app", i)})
			if err != nil {
				return err
			}
			all = append(all, &env.Repo{Remote: env.Remote{Name: row.Name}, Row: row, Ready: true})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &Pass{Env: &env.Env{Config: &config.Config{}, Store: db, Dirs: folder.Dirs{State: dir}, Now: time.Now, Log: slog.New(slog.DiscardHandler), All: all}}
	p.assemble()
	p.work(ctx, nil, env.NewReport(time.Now()))
	if n := db.SQL.Stats().OpenConnections; n != 1 {
		t.Errorf("%d connections to the database", n)
	}
}
