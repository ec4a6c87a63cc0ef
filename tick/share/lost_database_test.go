package share

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A machine whose database is lost while one of its passes works does not end what that pass was
// told: it holds the repository as long as before.
func TestDatabaseLostWhileAPassWorks(t *testing.T) {
	at := &remote{now: noon, all: map[string]git.Hold{}}
	share := shard.Shard{Index: 1, Of: 2}
	if !share.Takes("R_1") {
		share = shard.Shard{Index: 2, Of: 2}
	}
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
