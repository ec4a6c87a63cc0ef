package share

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// theirShare is the one that takes the repository.
func theirShare() shard.Shard {
	share := shard.Shard{Index: 1, Of: 2}
	if !share.Takes("R_1") {
		share = shard.Shard{Index: 2, Of: 2}
	}
	return share
}

// A ref that says for years that a machine holds the repository is believed by that machine no
// longer than by any other one: what the others take for nobody's, it asks for again.
func TestHoldOfYearsIsNotBelievedByItsOwnMachineEither(t *testing.T) {
	at := &remote{now: noon, all: map[string]git.Hold{}}
	share := theirShare()
	var machines []*pass
	for i := range 2 {
		db, row, dir := machine(t)
		machines = append(machines, newPass(t, i, db, at, row, share, dir))
	}
	first, second := machines[0], machines[1]
	if err := first.Take(t.Context(), first.repo); err != nil {
		t.Fatal(err)
	}
	// Somebody who may push writes the ref by hand, or the host's clock was wrong for a moment.
	at.all["by hand"] = git.Hold{By: "machine 0", Since: noon, Until: noon.AddDate(10, 0, 0)}
	at.at = "by hand"
	at.now = at.now.Add(time.Hour)
	if err := first.Keep(t.Context(), first.repo, env.Shortly); err != nil {
		t.Fatal(err)
	}
	// It holds it for as long as it asked for, and the other machine waits for that.
	second.begin(t, share)
	if err := second.Take(t.Context(), second.repo); err == nil {
		t.Fatal("both machines were told that they may write")
	}
	at.now = at.now.Add(2 * time.Hour)
	if err := second.Take(t.Context(), second.repo); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := second.Keep(t.Context(), second.repo, env.Shortly); err != nil {
			t.Fatal(err)
		}
		if err := first.Keep(t.Context(), first.repo, env.Shortly); err == nil {
			t.Fatal("both machines were told that they may write")
		}
		at.now = at.now.Add(40 * time.Minute)
	}
}

// A machine whose database is lost while one of its passes works does not end what that pass was
// told: it holds the repository as long as before.
func TestDatabaseLostWhileAPassWorks(t *testing.T) {
	at := &remote{now: noon, all: map[string]git.Hold{}}
	share := theirShare()
	passes := make([]*pass, 3)
	for i, name := range []int{0, 0, 1} { // the second has a new database
		db, row, dir := machine(t)
		passes[i] = newPass(t, name, db, at, row, share, dir)
	}
	works, next, other := passes[0], passes[1], passes[2]
	if err := works.Take(t.Context(), works.repo); err != nil {
		t.Fatal(err)
	}
	if err := works.Keep(t.Context(), works.repo, 2*time.Hour); err != nil { // an agent begins
		t.Fatal(err)
	}
	at.now = at.now.Add(time.Minute)
	if err := next.Take(t.Context(), next.repo); err != nil {
		t.Fatal(err)
	}
	at.now = at.now.Add(12 * time.Minute)
	if other.Take(t.Context(), other.repo) != nil || other.Keep(t.Context(), other.repo, env.Shortly) != nil {
		return // it waits for the agent's two hours
	}
	if works.Keep(t.Context(), works.repo, env.Shortly) == nil {
		t.Error("both machines were told that they may write")
	}
}

// A repository that comes back begins again, once: also where a pass dies between the push
// that takes it and what is stored of that.
func TestDeathBeforeARepositoryBeginsAgain(t *testing.T) {
	at := &remote{now: noon, all: map[string]git.Hold{}}
	db, row, dir := machine(t)
	row.IssuesSince = noon
	p := newPass(t, 0, db, at, row, theirShare(), dir)
	if err := p.Take(t.Context(), p.repo); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.LoseShares(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	at.at = "" // whoever had it gave it back
	p.begin(t, theirShare())
	hold := git.Hold{By: "machine 0", Since: noon, Until: noon.Add(time.Hour)}
	died := errors.New("it died")
	dies := func(context.Context, *store.Tx, work.Repo) (work.Repo, error) { return work.Repo{}, died }
	if err := p.move(t.Context(), p.repo, hold, "", dies); !errors.Is(err, died) {
		t.Fatal(err)
	}
	p.begin(t, theirShare())
	if err := p.Take(t.Context(), p.repo); err != nil || p.repo.Row.ID == row.ID {
		t.Fatalf("its row is %d as before: %v", p.repo.Row.ID, err)
	}
	again := p.repo.Row.ID
	p.begin(t, theirShare())
	if err := p.Take(t.Context(), p.repo); err != nil || p.repo.Row.ID != again {
		t.Errorf("its row is %d, and not %d: %v", p.repo.Row.ID, again, err)
	}
}

// journals is a mirror with one journal.
type journals struct {
	mirror
	dropped *[]string
}

func (j journals) Journals(context.Context) ([]string, error) { return []string{"a turn"}, nil }

func (j journals) DropTurns(_ context.Context, keys ...string) error {
	*j.dropped = append(*j.dropped, keys...)
	return nil
}

// A machine that lost its database does not resume what its mirror's journals say, nor does it
// believe its own file that merging is stopped, unless it holds the repository still: another
// one may have done it since, and people may have had merging resume there.
func TestLostDatabaseOfAMachineThatDoesNotHoldTheRepository(t *testing.T) {
	hold := func(by string, until time.Time) git.Hold {
		return git.Hold{By: by, Since: noon.Add(-time.Hour), Until: until}
	}
	for name, c := range map[string]struct {
		held   git.Hold // nobody: zero
		known  bool     // the database is the one of before
		forget bool
	}{
		"it holds the repository":           {held: hold("machine 0", noon.Add(time.Hour))},
		"nobody holds it":                   {forget: true},
		"another one held it":               {held: hold("machine 1", noon.Add(-time.Minute)), forget: true},
		"nobody does, and nothing was lost": {known: true},
	} {
		t.Run(name, func(t *testing.T) {
			at := &remote{now: noon, all: map[string]git.Hold{}}
			if c.held.By != "" {
				at.at, at.all["held"] = "held", c.held
			}
			db, row, dir := machine(t)
			if c.known {
				row.IssuesSince = noon
			}
			p := newPass(t, 0, db, at, row, theirShare(), dir)
			var dropped []string
			p.repo.Opened = journals{mirror{remote: at}, &dropped}
			if err := p.Dirs.StopMerging(p.repo.Row, work.Reason{Kind: work.WhyMergeDiffers}); err != nil {
				t.Fatal(err)
			}
			if err := p.Take(t.Context(), p.repo); err != nil {
				t.Fatal(err)
			}
			if (len(dropped) > 0) != c.forget {
				t.Errorf("dropped: %q", dropped)
			}
			if _, stopped := p.Dirs.MergingStopped(p.repo.Row); stopped == c.forget {
				t.Errorf("merging is stopped: %t", stopped)
			}
		})
	}
}
