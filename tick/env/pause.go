package env

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// PauseNumbers returns the numbers on which an item can be paused: its issue's and its newest pull
// request's.
func PauseNumbers(ctx context.Context, tx *store.Tx, item work.Item) ([]int, error) {
	numbers := []int{item.Number}
	pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
	if ok {
		numbers = append(numbers, pull.Number)
	}
	return numbers, err
}

// PauseOf returns the oldest open pause of an item.
func PauseOf(ctx context.Context, tx *store.Tx, item work.Item) (work.Pause, bool, error) {
	numbers, err := PauseNumbers(ctx, tx, item)
	if err != nil {
		return work.Pause{}, false, err
	}
	open, err := tx.ListOpenPauses(ctx, item.RepoID)
	at := slices.IndexFunc(open, func(p work.Pause) bool { return slices.Contains(numbers, p.Number) })
	if err != nil || at < 0 {
		return work.Pause{}, false, err
	}
	return open[at], true, nil
}

// Takeover is what the timeline of an issue or a pull request shows of pauses.
type Takeover struct {
	Pauses []work.Pause
	freed  time.Time // when the label was last removed; zero while it is set
}

// TakeoverOf reads the pauses from a timeline. GitHub's list and timeline are read one after the
// other and either may lag: on is whether the list shows the label, at the time of the list.
func TakeoverOf(number int, timeline []github.TimelineEvent, label string, on bool, at time.Time) Takeover {
	var t Takeover
	lasts := func() bool { return len(t.Pauses) > 0 && t.Pauses[len(t.Pauses)-1].Open() }
	for _, e := range timeline {
		if !strings.EqualFold(e.Label, label) {
			continue
		}
		switch {
		case e.Event == "labeled" && !lasts():
			t.Pauses = append(t.Pauses, work.Pause{Number: number, LabelID: e.ID, Began: e.CreatedAt, By: e.Actor.Login})
		case e.Event == "unlabeled" && lasts():
			t.Pauses[len(t.Pauses)-1].Ended, t.freed = e.CreatedAt, e.CreatedAt
		}
	}
	switch {
	case on && !lasts(): // the timeline lags
		t.Pauses = append(t.Pauses, work.Pause{Number: number, Began: at, By: "somebody"})
	case !on && lasts() && at.After(t.Pauses[len(t.Pauses)-1].Began): // the timeline lags, or the label was deleted
		t.Pauses[len(t.Pauses)-1].Ended, t.freed = at, at
	}
	if lasts() {
		t.freed = time.Time{}
	}
	return t
}

// And adds what another label shows. Pauses that a command began end when no label is left.
func (t Takeover) And(o Takeover) Takeover {
	lasts := func(t Takeover) bool { return len(t.Pauses) > 0 && t.Pauses[len(t.Pauses)-1].Open() }
	both := Takeover{Pauses: slices.Concat(t.Pauses, o.Pauses), freed: t.freed}
	if o.freed.After(t.freed) {
		both.freed = o.freed
	}
	if lasts(t) || lasts(o) {
		both.freed = time.Time{}
	}
	return both
}

// Store stores the pauses of a timeline. Removing the label also ends pauses that a command began:
// GitHub has the last word.
func (t Takeover) Store(ctx context.Context, tx *store.Tx, repoID int64, number int) error {
	for _, p := range t.Pauses {
		p.RepoID = repoID
		put := tx.PutPause
		if p.LabelID == 0 {
			put = tx.BeginPause
		}
		if err := put(ctx, p); err != nil {
			return err
		}
	}
	if t.freed.IsZero() {
		return nil
	}
	return tx.EndPauses(ctx, repoID, number, store.PausesByCommand, t.freed)
}

// Halted returns the pause of everything; false: there is none. The file of this machine comes
// first and needs no database. Where other machines have the same database, the pause of all machines
// follows; while the database cannot be read, the file decides.
func (p *Env) Halted(ctx context.Context) (folder.Halt, bool) {
	return p.HaltedBy(ctx, func() (fleet store.Fleet, err error) {
		return fleet, p.Store.View(ctx, func(tx *store.Tx) (err error) {
			fleet, err = tx.GetFleet(ctx)
			return err
		})
	})
}

// HaltedBy is Halted with another way to read what holds for all machines.
func (p *Env) HaltedBy(ctx context.Context, read func() (store.Fleet, error)) (folder.Halt, bool) {
	h, halted := p.Dirs.Halted()
	if p.Store == nil || !p.Store.Shared() || halted && !h.Fleet {
		return h, halted
	}
	fleet, err := read()
	if err == nil {
		h, halted, err = HaltedWith(p.Dirs, fleet)
	}
	if err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "could not find out whether all machines are paused", "error", err)
	}
	return h, halted
}

// HaltedWith returns the pause of everything, see HaltNow. One of all machines that has ended in the
// database ends here, too.
func HaltedWith(dirs folder.Dirs, fleet store.Fleet) (h folder.Halt, halted bool, err error) {
	here := haltHere(dirs)
	if now := HaltNow(here, fleet); now != nil {
		return *now, true, nil
	}
	if here != nil {
		_, err = dirs.EndHalt()
	}
	return h, false, err
}

// haltHere returns the pause that a state folder has; nil: it has none.
func haltHere(dirs folder.Dirs) *folder.Halt {
	h, halted := dirs.Halted()
	if !halted {
		return nil
	}
	return &h
}

// HaltShown is HaltedWith for a dry run, which writes nothing; nil: there is no pause.
func (p *Env) HaltShown(fleet store.Fleet) *folder.Halt { return HaltNow(haltHere(p.Dirs), fleet) }

// HaltNow returns the pause of everything: the one that this machine's state folder has, or that of all
// machines in the database, which says whether it has ended; nil: there is none. A database that knows of
// none is not the one in which it began: that was lost, or the config names another one since.
func HaltNow(here *folder.Halt, fleet store.Fleet) *folder.Halt {
	switch {
	case here != nil && fleet.MovedTo == "" && (!here.Fleet || !fleet.Known):
		return here
	case fleet.PausedAt.IsZero():
		return nil
	}
	h := HaltOf(fleet)
	return &h
}

// HaltOf returns the pause of all machines; zero: there is none.
func HaltOf(f store.Fleet) folder.Halt {
	h := folder.Halt{Since: f.PausedAt, Why: f.Why, Fleet: true, By: f.PausedBy, On: f.PausedOn}
	if moved := f.Moved(); moved != nil {
		h.Why, h.Moved = moved.Error(), true
	}
	return h
}
