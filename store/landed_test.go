package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A migration that landed never changes: a database that has it would keep what the old text made, under the
// same number. landed.txt has the hash of each; a new migration's, and the columns of the schema that it makes, are written by
//
//	MERGEXO_LAND=yes go test ./store -run TestLanded
func TestLandedMigrationsStay(t *testing.T) {
	const list = "testdata/landed.txt"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	landed := map[string]string{}
	for line := range strings.Lines(string(text)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		landed[name] = hash
	}
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	for _, file := range files {
		sql, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash := fmt.Sprintf("%x", sha256.Sum256(sql))
		switch was, there := landed[file]; {
		case !there && land():
			text = fmt.Appendf(text, "%s  %s\n", hash, file)
			if err := os.WriteFile(list, text, 0o600); err != nil {
				t.Fatal(err)
			}
		case !there:
			t.Errorf("%s is new: MERGEXO_LAND=yes go test ./store -run TestLanded", file)
		case was != hash:
			t.Errorf("%s has landed and was edited: undo that, and write a migration with the next number", file)
		}
		delete(landed, file)
	}
	for file := range landed {
		t.Errorf("%s has landed and is gone", file)
	}
}

func land() bool { return os.Getenv("MERGEXO_LAND") != "" }

// The columns with which a database is compared when it is opened are those that the newest migration leaves.
func TestLandedColumns(t *testing.T) {
	const list = "migrations/columns.txt"
	d := openAt(t, newPath(t))
	version, columns, err := d.engine.version(t.Context(), d.SQL)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]string{}
	for c := range strings.FieldsSeq(columns) {
		if table, _, _ := strings.Cut(c, "."); table != "goose_db_version" && !strings.HasPrefix(table, "sqlite_") {
			tables[table] = append(tables[table], c)
		}
	}
	want := fmt.Sprintf("schema %d\n", version)
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		slices.Sort(tables[table])
		want += strings.Join(tables[table], " ") + "\n"
	}
	if want == newestColumns {
		return
	}
	if !land() {
		t.Fatalf("%s is not of schema %d: MERGEXO_LAND=yes go test ./store -run TestLanded", list, version)
	}
	if err := os.WriteFile(list, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A database of the same number with other columns is refused by each who opens it, with what brings it back.
func TestOtherColumnsAreRefused(t *testing.T) {
	for change, want := range map[string]string{
		`ALTER TABLE clocks RENAME COLUMN ahead TO before`:                                 "clocks.ahead is missing, clocks.before is unknown",
		`ALTER TABLE clocks ADD COLUMN colour TEXT`:                                        "clocks.colour is unknown",
		`DROP TABLE sub_issues`:                                                            "sub_issues.item_id is missing, sub_issues.position is missing, sub_issues.ref is missing, and 2 more",
		`CREATE TABLE beside (id INTEGER)`:                                                 "",
		`ALTER TABLE clocks ADD COLUMN colour TEXT; ALTER TABLE clocks DROP COLUMN colour`: "",
	} {
		at := newAt(t)
		d := openAt(t, at)
		if _, err := d.SQL.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		_, isWriter := Open(t.Context(), at, Options{Now: clock})
		_, _, isReader := OpenReadOnly(t.Context(), at)
		for _, err := range []error{isWriter, isReader} {
			if want == "" && err == nil {
				continue
			}
			fault, ok := work.MachineFault(err)
			if !ok || !errors.Is(err, errUnreleased) || !strings.Contains(err.Error(), ": "+want+")") || !strings.Contains(fault.Do, d.engine.replaceBy()) {
				t.Errorf("%s: %v", change, err)
			}
		}
	}
}
