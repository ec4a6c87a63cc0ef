package store

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A database file that may not be written to is a fault of the machine, and its error says what to type.
func TestAReadOnlyDatabaseSaysWhatToType(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for _, want := range []bool{false, true} {
		dsn := "file:" + path
		if want {
			dsn += "?mode=ro"
		}
		db, err := sql.Open("sqlite", dsn)
		if err != nil {
			t.Fatal(err)
		}
		if !want { // the file is made
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (a INTEGER)"); err != nil {
				t.Fatal(err)
			}
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		err = errors.Join(explainFile(path, err), db.Close())
		fault, ok := errors.AsType[*work.MachineError](err)
		if ok != want || ok && !strings.Contains(fault.Error(), "chmod u+w ") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
