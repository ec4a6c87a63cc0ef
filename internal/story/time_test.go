//go:build unix

package story

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// cmdLater lets time pass for the program: every time that its database holds
// is taken back.
func cmdLater(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Check(takeBack(worldOf(ts).stateDB(), d))
}

// cmdHubClock sets GitHub's clock apart from this machine's.
func cmdHubClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub-clock DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	worldOf(ts).skew.Store(int64(d))
}

func takeBack(path string, by time.Duration) (err error) {
	columns, err := query(path, `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND c.type = 'INTEGER'
		AND (c.name LIKE '%\_at' ESCAPE '\' OR c.name LIKE '%\_since' ESCAPE '\' OR c.name = 'not_before' OR c.name IN ('at', 'since'))`)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, c := range columns {
		stmt := fmt.Sprintf(`UPDATE %s SET %s = %s - %d WHERE %s > 0`, c[0], c[1], c[1], by.Milliseconds(), c[1])
		if _, err := db.Exec(stmt); err != nil {
			return fmt.Errorf("%s: %w", stmt, err)
		}
	}
	return nil
}

// cmdHubPaste has somebody post the words of a comment again, marker and all.
func cmdHubPaste(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hub-paste NUMBER COMMENT AUTHOR")
	}
	var number int
	_, err := fmt.Sscan(args[0], &number)
	ts.Check(err)
	repo := worldOf(ts).hub.Repo(mainRepo)
	for _, c := range repo.Comments(number) {
		if githubsim.Ordinal(c.ID) == args[1] {
			_, err := repo.Comment(number, args[2], c.Body)
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("there is no comment %s on #%d", args[1], number)
}
