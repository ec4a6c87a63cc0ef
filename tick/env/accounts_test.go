package env

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
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
		p := &Env{Store: db, Config: &config.Config{}, TokenVariable: func(string) string { return "" }}
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

// A pass commits as the account that gh is logged in with on its machine, before GitHub has named it in
// this pass: also one that the config names, and where other machines have other accounts.
func TestAPassKnowsItsAccountBeforeItAsks(t *testing.T) {
	const host = "github.com"
	bob := work.Account{ID: 9, Login: "bob"}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	pass := func(machine string, on func(*Env)) {
		t.Helper()
		db, err := store.Open(t.Context(), at, store.Options{Now: func() time.Time { return noon }, Machine: machine})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		p := &Env{Store: db, Config: &config.Config{}, TokenVariable: func(string) string { return "" }}
		p.Config.Repos = []config.Repo{{Name: work.RepoName{Host: host, Owner: "octo", Name: "app"}, Account: map[string]string{"one": ann.Login, "two": bob.Login}[machine]}}
		p.Remotes = []Remote{{Name: work.RepoName{Host: host, Owner: "octo", Name: "app"}}}
		if err := db.View(t.Context(), func(tx *store.Tx) error { return p.LoadAccounts(t.Context(), tx, nil) }); err != nil {
			t.Fatal(err)
		}
		on(p)
	}
	for machine, who := range map[string]work.Account{"one": ann, "two": bob} {
		pass(machine, func(p *Env) {
			if err := p.AcceptAccount(t.Context(), host, who); err != nil {
				t.Fatal(err)
			}
			if err := p.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.SetClock(t.Context(), host, 0, p.Accounts.loggedIn(host)) }); err != nil {
				t.Fatal(err)
			}
		})
	}
	for machine, who := range map[string]work.Account{"one": ann, "two": bob} {
		pass(machine, func(p *Env) {
			if got := p.Accounts.Identity(host).Name; got != who.Login {
				t.Errorf("machine %s commits as %q, not as %s", machine, got, who.Login)
			}
		})
	}
}
