package share

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A ref that says for years that a machine holds the repository is believed by that machine no
// longer than by any other one: what the others take for nobody's, it asks for again.
func TestHoldOfYearsIsNotBelievedByItsOwnMachineEither(t *testing.T) {
	at := &remote{now: noon, all: map[string]git.Hold{}}
	share := shard.Shard{Index: 1, Of: 2}
	if !share.Takes("R_1") {
		share = shard.Shard{Index: 2, Of: 2}
	}
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
