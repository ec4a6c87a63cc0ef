package env

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A transaction may ask who our accounts are while a new one waits to be stored.
func TestANewAccountKeepsNoTransactionWaiting(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	db, err := store.Open(t.Context(), at, store.Options{Now: func() time.Time { return noon }}) // the function runs once
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	bot := work.Account{ID: 8, Login: "bot"}
	for what, record := range map[string]func(*Env) error{
		"operator": func(p *Env) error { return p.AcceptAccount(t.Context(), "github.com", ann) },
		"reviewer": func(p *Env) error { return Speakers{p}.record(t.Context(), "github.com", bot) },
	} {
		p := &Env{Store: db}
		p.Accounts.operators = map[string][]int64{}
		recorded := make(chan error, 1)
		err := db.Update(t.Context(), func(*store.Tx) error {
			go func() { recorded <- record(p) }()
			for p.Accounts.recording.TryLock() { // until the other one waits
				p.Accounts.recording.Unlock()
				runtime.Gosched()
			}
			p.Accounts.Writers("github.com")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-recorded; err != nil {
			t.Error(err)
		}
		if got := p.Accounts.Writers("github.com"); len(got) != 1 {
			t.Errorf("%s: accounts %v", what, got)
		}
	}
}
