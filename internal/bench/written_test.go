//go:build unix

package bench

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // to look at the state database
	_ "modernc.org/sqlite"             // the same, in a file
)

// written is all that a pass may have written.
type written struct {
	tables     string            // every row of every table, but for when it was read or asked last
	heartbeats []string          // one a repository
	files      map[string]string // the state folder's other files: contents' hashes
	lines      int               // of the log
}

func (w *world) written(t *testing.T) written {
	t.Helper()
	all := written{files: map[string]string{}}
	all.tables, all.heartbeats = dump(t, w.database())
	must(t, filepath.WalkDir(w.state(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, w.database()) {
			return err
		}
		b, err := os.ReadFile(path)
		if filepath.Ext(path) == ".jsonl" {
			all.lines += bytes.Count(b, []byte("\n"))
			return err
		}
		all.files[path] = fmt.Sprintf("%x", sha256.Sum256(b))
		if name := filepath.Base(path); name == "passes.json" || strings.HasPrefix(name, "pass") && strings.HasSuffix(name, ".lock") {
			all.files[path] = "" // every pass writes its beginning and its end
		}
		return err
	}))
	return all
}

// openRead opens a database to look at.
func openRead(t *testing.T, path string) *sql.DB {
	t.Helper()
	if strings.HasPrefix(path, "postgres:") {
		db, err := sql.Open("pgx", path)
		must(t, err)
		return db
	}
	q := url.Values{"mode": {"ro"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	must(t, err)
	return db
}

// dump prints a database.
func dump(t *testing.T, path string) (rows string, heartbeats []string) {
	t.Helper()
	db := openRead(t, path)
	defer func() { must(t, db.Close()) }()
	var b strings.Builder
	for _, table := range query(t, db, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`) {
		columns := query(t, db, `SELECT name FROM pragma_table_info('`+table+`')`)
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == "heartbeat_at" })
		fmt.Fprintln(&b, table, columns)
		for _, row := range query(t, db, `SELECT json_array(`+hexed(columns)+`) FROM `+table+` ORDER BY 1`) {
			fmt.Fprintln(&b, row)
		}
	}
	return b.String(), query(t, db, `SELECT heartbeat_at FROM repositories ORDER BY id`)
}

// hexed selects columns in a form that JSON can hold.
func hexed(columns []string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = "hex(" + c + ")"
	}
	return strings.Join(out, ", ")
}

// query gives the first column of a query.
func query(t *testing.T, db *sql.DB, text string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text)
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	var all []string
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		all = append(all, s)
	}
	must(t, rows.Err())
	return all
}
