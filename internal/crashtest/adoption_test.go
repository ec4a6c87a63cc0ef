//go:build unix

package crashtest

import (
	"errors"
	"os"
)

// The database is lost once three pull requests are open, each on a page of its own, and
// what was said on one of them has its answer. A pass that finds them again dies on its
// way, between the pages, too: what it stored by then is not read again, and whatever it
// left is found by the next one.

// threePulls are opened one after the other, so that each has its page in every run. A
// comment on the first of them is answered, whose issue has its label no more. After an
// hour no list of what is new shows it: its page alone does.
func threePulls(w *world) error {
	w.hub.SetOpenPage(1)
	return steps(
		issue("Crash on start", "agent:bugfix", ""), quiet, issue("Fix typo", "agent:small-job", "Which one?"), quiet,
		issue("New search", "agent:bugfix", ""), quiet, commentOn(2),
		func(w *world) error { return w.repo.Unlabel(1, "ann", "agent:bugfix") }, quiet, anHourLater,
	)(w)
}

func anHourLater(w *world) error {
	w.later.Add(60 * 60)
	return nil
}

// loseDatabase deletes it while no pass lives.
func loseDatabase(w *world) (err error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err = errors.Join(err, os.RemoveAll(w.state(database+suffix)))
	}
	return err
}
