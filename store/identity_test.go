package store

import (
	"context"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func identify(ctx context.Context, tx *Tx, id int64, who RepoIdentity) error {
	return identified(tx.IdentifyRepo(ctx, id, who))
}

// rooms is a database in which GitHub says who stands behind names.
type rooms struct {
	*testing.T
	d *DB
}

func (r rooms) name(full string) work.RepoName {
	n, err := work.ParseRepoName(full, "github.com")
	if err != nil {
		r.Fatal(err)
	}
	return n
}

func (r rooms) ensure(full string) work.Repo {
	return inTx(r.T, r.d, func(tx *Tx) (work.Repo, error) { return tx.EnsureRepo(r.Context(), r.name(full)) })
}

// says has GitHub say who a row's name stands for.
func (r rooms) says(row work.Repo, node, current string) (now work.Repo, what Identified) {
	update(r.T, r.d, func(tx *Tx) (err error) {
		now, what, err = tx.IdentifyRepo(r.Context(), row.ID, RepoIdentity{NodeID: node, GitHubID: int64(len(node)), Current: r.name(current), DefaultBranch: "main", At: t0})
		return err
	})
	if kept := getRepo(r.T, r.d, now.ID); kept != now {
		r.Errorf("the row is %+v and was given as %+v", kept, now)
	}
	return now, what
}

func TestRepositoryRenamedTogetherWithTheConfigKeepsItsRow(t *testing.T) {
	r := rooms{t, newDB(t)}
	first, what := r.says(r.ensure("octo/app"), "R_1", "octo/app")
	if what != RepoSame {
		t.Errorf("at first sight: %s", what)
	}
	fresh := r.ensure("octo/renamed") // no pass saw the rename
	if fresh.ID == first.ID {
		t.Fatal("a name alone says nothing")
	}
	now, what := r.says(fresh, "R_1", "octo/renamed")
	if now.ID != first.ID || what != RepoRenamed || now.Name.Name != "renamed" {
		t.Errorf("%s, %+v", what, now)
	}
	if again := r.ensure("octo/renamed"); again.ID != first.ID {
		t.Errorf("in the next pass: %+v", again)
	}
	if all := inTx(t, r.d, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(all) != 1 {
		t.Errorf("rows: %+v", all)
	}
}

func TestAnotherRepositoryUnderANameGetsARowOfItsOwn(t *testing.T) {
	r := rooms{t, newDB(t)}
	old, _ := r.says(r.ensure("octo/app"), "R_1", "octo/app")
	item := addItem(t, r.d, work.Item{RepoID: old.ID, Number: 1})
	now, what := r.says(r.ensure("octo/app"), "R_2", "octo/app")
	if what != RepoReplaced || now.ID == old.ID || now.NodeID != "R_2" || !now.IssuesSince.IsZero() {
		t.Errorf("%s, %+v", what, now)
	}
	if again := r.ensure("octo/app"); again.ID != now.ID {
		t.Errorf("in the next pass: %+v", again)
	}
	if apart := getRepo(t, r.d, old.ID); apart.RemovedAt.IsZero() || getItem(t, r.d, item.ID).RepoID != old.ID {
		t.Errorf("the former one: %+v", apart)
	}

	// It was renamed, and the config names it again.
	back, what := r.says(r.ensure("octo/moved"), "R_1", "octo/moved")
	if back.ID != old.ID || what != RepoRenamed || !back.RemovedAt.IsZero() {
		t.Errorf("%s, %+v", what, back)
	}
	// And back to where it began, as others were swapped by hand.
	if swapped, what := r.says(now, "R_3", "octo/app"); what != RepoReplaced || swapped.ID == now.ID || swapped.ID == old.ID {
		t.Errorf("%s, %+v", what, swapped)
	}
}

func TestHostsShareNoRows(t *testing.T) {
	r := rooms{t, newDB(t)}
	one, _ := r.says(r.ensure("octo/app"), "R_1", "octo/app")
	other, what := r.says(r.ensure("ghe.example.com/octo/app"), "R_1", "ghe.example.com/octo/app")
	if other.ID == one.ID || what != RepoSame || other.Key() == one.Key() || other.Folder() == one.Folder() {
		t.Errorf("%s, %+v beside %+v", what, other, one)
	}
}

func identified(_ work.Repo, _ Identified, err error) error { return err }

func TestEachNameOfTheConfigGetsTheRowThatFitsItBest(t *testing.T) {
	r := rooms{t, newDB(t)}
	open := func(names ...string) []work.Repo {
		var all []work.RepoName
		for _, n := range names {
			all = append(all, r.name(n))
		}
		return inTx(t, r.d, func(tx *Tx) ([]work.Repo, error) { return tx.OpenRepos(t.Context(), all) })
	}
	app, _ := r.says(r.ensure("octo/app"), "R_1", "octo/app")
	lib, _ := r.says(r.ensure("octo/lib"), "R_2", "octo/lib")
	r.says(app, "R_1", "octo/renamed")
	if got := open("octo/app", "octo/lib"); got[0].ID != app.ID || got[1].ID != lib.ID {
		t.Errorf("renamed on GitHub alone: %+v", got)
	}
	got := open("octo/app", "octo/renamed", "octo/lib") // the former name is another one's now
	if got[1].ID != app.ID || got[0].ID == app.ID || got[0].NodeID != "" || got[2].ID != lib.ID {
		t.Errorf("both names: %+v", got)
	}
	// The names are swapped.
	r.says(got[1], "R_1", "octo/lib")
	r.says(lib, "R_2", "octo/renamed")
	got = open("octo/renamed", "octo/lib")
	if got[0].ID != lib.ID || got[1].ID != app.ID || !got[0].RemovedAt.IsZero() || !got[1].RemovedAt.IsZero() {
		t.Errorf("swapped: %+v", got)
	}
	if again := open("octo/renamed", "octo/lib"); again[0] != got[0] || again[1] != got[1] {
		t.Errorf("once more: %+v", again)
	}
}
