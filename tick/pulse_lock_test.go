package tick

import (
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/store"
)

// One machine of each account asks for the pulse of a host at a time; GitHub's limits are an account's.
func TestOneMachineOfAnAccountAsksForThePulse(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has the database for itself")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	asks := func(name string, account int64) *inFleet {
		t.Helper()
		m := newInFleet(t, at, name, true)
		err := m.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.SetClock(t.Context(), "github.com", 0, account) })
		if err == nil {
			m.Session, err = m.Store.Session(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Session.Close(t.Context()) })
		return m
	}
	a, b, c := asks("a", 1), asks("b", 1), asks("c", 2)
	for _, try := range []struct {
		m    *inFleet
		host string
		want bool
	}{{a, "github.com", true}, {b, "github.com", false}, {c, "github.com", true}, {b, "ghe.example", true}} {
		if ok, err := try.m.TryPulse(t.Context(), try.host); err != nil || ok != try.want {
			t.Errorf("%s on %s: %v, %v", try.m.Machine.Name, try.host, ok, err)
		}
	}
	a.UnlockPlanning(t.Context())
	if ok, err := b.TryPulse(t.Context(), "github.com"); err != nil || !ok {
		t.Errorf("after a's plan: %v, %v", ok, err)
	}
}
