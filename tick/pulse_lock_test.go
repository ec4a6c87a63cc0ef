package tick

import (
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// One machine of each account asks for the pulse of a host at a time; GitHub's limits are an account's.
func TestOneMachineOfAnAccountAsksForThePulse(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has the database for itself")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	asks := func(name string) *inFleet {
		t.Helper()
		m := newInFleet(t, at, name, true)
		var err error
		if m.Session, err = m.Store.Session(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Session.Close(t.Context()) })
		return m
	}
	a, b, c := asks("a"), asks("b"), asks("c")
	for _, try := range []struct {
		m       *inFleet
		host    string
		account int64
		want    bool
	}{{a, "github.com", 1, true}, {b, "github.com", 1, false}, {c, "github.com", 2, true}, {b, "ghe.example", 1, true}} {
		if ok, err := try.m.TryPulse(t.Context(), try.host, try.account); err != nil || ok != try.want {
			t.Errorf("%s on %s: %v, %v", try.m.Machine.Name, try.host, ok, err)
		}
	}
	a.UnlockPlanning(t.Context())
	if ok, err := b.TryPulse(t.Context(), "github.com", 1); err != nil || !ok {
		t.Errorf("after a's plan: %v, %v", ok, err)
	}
}
