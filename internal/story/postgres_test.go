//go:build unix

package story

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// useServer makes the story a database on the server for tests, where there is one.
func (w *world) useServer(e *testscript.Env, t *testing.T) error {
	if !testpg.Set() {
		return nil
	}
	ctx := context.WithoutCancel(t.Context())
	url, drop, err := testpg.New(ctx)
	if err != nil {
		return err
	}
	w.server = url
	w.config.set("runtime", "database", url)
	e.Defer(func() {
		if err := drop(ctx); err != nil {
			t.Error(err)
		}
	})
	return w.config.write()
}

// aboutFile finds stories that are about SQLite's file, or delete what only one machine has: they stay
// SQLite's. On PostgreSQL the database has the commit of a turn, and a machine without its state folder
// is another machine. And pause --all pauses all machines there.
var aboutFile = regexp.MustCompile(`state\.db|sqlite|everything on this machine is paused since 20|Paused all work on this machine|rm (?:-rf )?(?:\$STATE|state\b)`)

// ofEngine chooses the stories that are played on the engine for tests: all on SQLite; on PostgreSQL
// those that are not about SQLite's file.
func ofEngine(t *testing.T, files []string) []string {
	t.Helper()
	if !testpg.Set() {
		return files
	}
	return slices.DeleteFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return aboutFile.Match(text) || !slices.Contains(onServer, filepath.Base(filepath.Dir(file)))
	})
}

// onServer are the folders that are played on PostgreSQL, some hundred stories.
var onServer = []string{"budget", "command", "feedback", "fleet", "flow", "ingest", "pause", "recovery", "roadmap"}
