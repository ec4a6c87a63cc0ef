//go:build unix

package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// daybreak is when simulated days begin.
var daybreak = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// field is a world in which days pass: what changes is done to the simulated GitHub, and
// the program makes a pass each minute.
type field struct {
	*world
	ids     []int // of the repositories in the database
	first   int   // number of the first pull request of each repository
	waiting []seen
}

// seen is a change that is not in the database yet, and the query that counts it there.
type seen struct {
	change
	query string
}

// newField has repositories of tracked pull requests that were read when the day begins.
func newField(t *testing.T, s shape, begin time.Duration) *field {
	t.Helper()
	return newFieldOf(newEmptyWorld(t, self(t), s), t, begin)
}

// newFieldOf is newField in a world.
func newFieldOf(w *world, t *testing.T, begin time.Duration) *field {
	t.Helper()
	f := &field{world: w, first: w.pulls + 1}
	f.standAt(begin - 2*time.Hour)
	w.writeConfig(t, quiet)
	w.tick(t)
	w.past.Store(true)
	numbers := w.populate(t)
	w.past.Store(false)
	w.track(t, numbers)
	w.update(t, func(_ context.Context, _ *store.Tx, r work.Repo) error {
		f.ids = append(f.ids, int(r.ID))
		return nil
	})
	slices.Sort(f.ids) // in the order of the config, in which the rows were made
	for at := begin - 2*time.Hour; at < begin; at += 10 * time.Minute {
		f.standAt(at)
		w.tick(t)
	}
	return f
}

func (f *field) standAt(at time.Duration) {
	now := daybreak.Add(at)
	f.still.Store(&now)
}

// play has a day happen, with a pass of each machine in each minute.
func (f *field) play(t *testing.T, day []change, from, until time.Duration) *ledger {
	t.Helper()
	l := &ledger{}
	for minute := from; minute < until; minute += time.Minute {
		for machine := range f.fleet.machines {
			at := minute + f.fleet.begins(machine)
			for len(day) > 0 && day[0].at <= at {
				f.standAt(day[0].at)
				f.do(t, day[0])
				day = day[1:]
			}
			f.standAt(at)
			l.passes = append(l.passes, f.pass(t, machine, at))
			if len(f.waiting) > 0 {
				f.look(t, l, at)
				f.settleAll(t) // no agent does: what waits for one has its repository read in each pass
			}
		}
	}
	for _, s := range f.waiting {
		l.missed(s.change)
	}
	f.waiting = nil
	return l
}

// pass makes a machine's pass.
func (f *field) pass(t *testing.T, machine int, at time.Duration) asks {
	t.Helper()
	account := f.fleet.account(machine)
	f.hub.ResetLog()
	before := f.hub.Used(login(account), "graphql")
	if out := f.workOn(t, machine); len(out) > 0 {
		t.Fatalf("tick: %s", out)
	}
	a := f.asks(at)
	a.account = account
	if a.points = f.hub.Used(login(account), "graphql") - before; a.points < 0 { // another hour began
		a.points += before
	}
	return a
}

// do has somebody do it.
func (f *field) do(t *testing.T, c change) {
	t.Helper()
	on, number, id := f.all[c.repo], f.first+c.pull, f.ids[c.repo]
	branch := fmt.Sprintf("agent/small/%d", c.pull+1)
	if p, ok := on.Pull(number); !ok || p.State != "open" {
		return
	}
	word := fmt.Sprintf("At %d", c.at.Milliseconds())
	query := ""
	switch c.what {
	case talks:
		comment, err := on.Comment(number, reviewer, word)
		must(t, err)
		query = fmt.Sprintf(`SELECT COUNT(*) FROM events WHERE repo_id = %d AND number = %d AND source = '%d'`, id, number, comment)
	case remarks:
		comment, err := on.ReviewComment(number, reviewer, "bulk.txt", 1, word)
		must(t, err)
		query = fmt.Sprintf(`SELECT COUNT(*) FROM events WHERE repo_id = %d AND number = %d AND source = '%d'`, id, number, comment)
	case pushes:
		head, err := on.PushCommit(branch, reviewer, map[string]string{"more.txt": word}, word)
		must(t, err)
		must(t, on.SetStatus(branch, "ci", "pending", word))
		query = fmt.Sprintf(`SELECT COUNT(*) FROM pull_requests WHERE repo_id = %d AND number = %d AND head_oid = '%s'`, id, number, head)
	case results:
		must(t, on.SetStatus(branch, "ci", "success", word))
		query = fmt.Sprintf(`SELECT COUNT(*) FROM pull_requests WHERE repo_id = %d AND number = %d AND rollup = 'SUCCESS'`, id, number)
	case edits:
		must(t, on.EditIssue(c.pull+1, reviewer, &word, nil))
		query = fmt.Sprintf(`SELECT COUNT(*) FROM work_items WHERE repo_id = %d AND number = %d AND title = '%s'`, id, c.pull+1, word)
	case closes:
		must(t, on.Close(number, reviewer, ""))
		query = fmt.Sprintf(`SELECT COUNT(*) FROM pull_requests WHERE repo_id = %d AND number = %d AND state <> 'open'`, id, number)
	}
	// What came first of a kind is outdone: nobody can see it any more.
	f.waiting = slices.DeleteFunc(f.waiting, func(s seen) bool {
		same := s.repo == c.repo && s.pull == c.pull
		return same && (c.what == closes || s.what == c.what && c.what != talks && c.what != remarks || s.what == results && c.what == pushes)
	})
	f.waiting = append(f.waiting, seen{c, query})
}

// look finds what is in the database by now.
func (f *field) look(t *testing.T, l *ledger, at time.Duration) {
	t.Helper()
	db := openRead(t, f.database())
	defer func() { must(t, db.Close()) }()
	f.waiting = slices.DeleteFunc(f.waiting, func(s seen) bool {
		if query(t, db, s.query)[0] == "0" {
			return false
		}
		l.seen(s.change, at)
		return true
	})
}

// asks sorts what the last pass asked.
func (f *field) asks(at time.Duration) asks {
	a := asks{at: at}
	for _, r := range f.hub.Requests() {
		if r.Write {
			a.writes++
		}
		path := strings.Split(strings.Trim(r.Path, "/"), "/")
		switch {
		case strings.Contains(r.Body, "query Pulse("):
			a.pulses++
		case strings.Contains(r.Body, "query Sweep("):
			a.lights++
		case len(path) >= 4 && path[0] == "repos" && (strings.Join(path[3:], "/") == "issues" || strings.Join(path[3:], "/") == "issues/comments" || strings.Join(path[3:], "/") == "pulls/comments"):
			a.lists++
		default:
			a.others++
		}
	}
	return a
}
