package turn

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// The home folder of an item is removed once the item is closed, not before.
func TestHomesOfOpenItemsStay(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	name := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	db := testdb.Open(t, filepath.Join(dir, "state.db"), time.Now)
	t.Cleanup(func() { _ = db.Close() })
	var repo work.Repo
	err := db.Update(ctx, func(tx *store.Tx) (err error) {
		if repo, err = testdb.Repo(ctx, tx, name); err != nil {
			return err
		}
		for number, state := range map[int]work.State{3: work.StateAwaitingFeedback, 4: work.StateMerged, 5: work.StateClosed, 6: work.StateBlocked} {
			if _, err := tx.AddItem(ctx, work.Item{RepoID: repo.ID, Number: number, State: state, Since: time.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &restorer{Env: &env.Env{Store: db, Dirs: folder.Dirs{State: dir}}}
	for _, item := range []string{"3", "4", "5", "6", "7"} {
		if err := os.MkdirAll(filepath.Join(p.Dirs.HomesDir(repo), item, ".cache"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := p.dropHomes(ctx, &env.Repo{Remote: env.Remote{Name: name}, Row: repo}); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(p.Dirs.HomesDir(repo))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range left {
		names = append(names, l.Name())
	}
	if !slices.Equal(names, []string{"3", "6"}) {
		t.Errorf("left: %q", names)
	}
	if err := p.dropHomes(ctx, &env.Repo{Remote: env.Remote{Name: work.RepoName{Owner: "octo", Name: "none"}}}); err != nil {
		t.Error(err)
	}
}
