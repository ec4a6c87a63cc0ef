//go:build unix

package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// pullsEach is how many pull requests are open in each of many repositories.
const pullsEach = 10

// TestIdlePassOverManyRepositories: of many repositories in which nothing is new an idle pass
// asks one query for each hundred, and writes nothing.
func TestIdlePassOverManyRepositories(t *testing.T) {
	testhome.OnlyLong(t)
	const repos = 12
	w := newManyWorld(t, self(t), repos)
	w.hub.ResetLog()
	before, points := w.written(t).tables, w.hub.Used(operator, "graphql")
	took := w.tickNow(t)
	if n := len(w.hub.Requests()); n != 1 || !strings.Contains(w.hub.Requests()[0].Body, "query Stamps(") {
		t.Errorf("an idle pass over %d repositories asked %d times", repos, n)
		for _, r := range w.hub.Requests() {
			t.Logf("%s %s?%s %d %.100s", r.Method, r.Path, r.Query, r.Status, r.Body)
		}
	}
	if after := w.written(t).tables; after != before {
		t.Errorf("an idle pass changed the database:\n%s", firstDifference(before, after))
	}
	t.Logf("%d repositories: %d points, %s of processor time", repos, w.hub.Used(operator, "graphql")-points, took)
}

// objectsOfARepository is what an idle pass allocates for each of many repositories at most: its
// row, its settings, its place in what is decided. A query for each takes some 40 more.
const objectsOfARepository = 330

// TestIdlePassGrowsWithItsRepositories: with twice as many repositories an idle pass allocates
// no more than twice as many objects: nothing compares each with each.
func TestIdlePassGrowsWithItsRepositories(t *testing.T) {
	testhome.OnlyLong(t)
	objects := map[int]int{}
	for _, repos := range []int{20, 40, 80} {
		w := newManyWorldOf(t, self(t), shape{repos: repos, pulls: 1})
		var took time.Duration
		objects[repos], took = w.countObjects(t)
		t.Logf("%d repositories: %d objects, %s of processor time", repos, objects[repos], took)
	}
	// What each pass allocates, whatever its size, is left out of the comparison.
	if each := (objects[80] - objects[40]) / 40; each > objectsOfARepository {
		t.Errorf("%d objects for each further repository", each)
	}
	if first, second := objects[40]-objects[20], objects[80]-objects[40]; float64(second) > 2.2*float64(first) {
		t.Errorf("20 more repositories: %d objects more; 40 more: %d", first, second)
	}
}

// objectsOfAnItem is what an idle pass allocates at most for each item on which five comments
// wait: the item, its pull request, its comments, their quiet period, what it waits for. A query for each takes some
// 40 more, and there were ten of them.
const objectsOfAnItem = 510

// TestIdlePassGrowsWithWhatWaits: where comments wait that no turn takes yet, what is read of
// their items is read of many by one query.
func TestIdlePassGrowsWithWhatWaits(t *testing.T) {
	testhome.OnlyLong(t)
	objects := map[int]int{}
	for _, pulls := range []int{100, 200} {
		w := newUnreadWorld(t, self(t), shape{repos: 1, pulls: pulls, comments: 5})
		w.untilQuiet(t)
		var took time.Duration
		objects[pulls], took = w.countObjects(t)
		if n := w.count(t, `SELECT COUNT(*) FROM events WHERE processed_at = 0`); n != 5*pulls {
			t.Fatalf("%d comments wait", n)
		}
		t.Logf("%d items: %d objects, %s of processor time", pulls, objects[pulls], took)
	}
	if each := (objects[200] - objects[100]) / 100; each > objectsOfAnItem {
		t.Errorf("%d objects for each further item", each)
	}
}

// countObjects makes a pass and gives how many objects it allocates, and its processor time.
func (w *world) countObjects(t *testing.T) (int, time.Duration) {
	t.Helper()
	path := filepath.Join(w.dir, "objects")
	before := w.program
	defer func() { w.program = before }()
	w.program.env = append(slices.Clone(before.env), objectsVariable+"="+path)
	took := w.tickNow(t)
	text, err := os.ReadFile(path)
	must(t, err)
	n, err := strconv.Atoi(string(text))
	must(t, err)
	return n, took
}

// newManyWorld makes a machine with many repositories, in each of which some quiet pull
// requests are tracked.
func newManyWorld(t *testing.T, p program, repos int) *world {
	t.Helper()
	return newManyWorldOf(t, p, shape{repos: repos, pulls: pullsEach})
}

func newManyWorldOf(t *testing.T, p program, s shape) *world {
	t.Helper()
	return fillMany(t, newEmptyWorld(t, p, s))
}

// fillMany is newManyWorldOf in a world.
func fillMany(t *testing.T, w *world) *world {
	t.Helper()
	repos := w.repos
	w.writeConfig(t, quiet)
	for w.count(t, `SELECT COUNT(*) FROM repositories WHERE heartbeat_at > 0`) < repos { // first looks are spread over passes
		w.tickNow(t)
	}
	w.past.Store(true)
	made := map[string]map[int]int{}
	for _, r := range w.all {
		w.repo = r
		made[r.NodeID()] = w.populateQuiet(t)
	}
	w.past.Store(false)
	for _, r := range w.all {
		w.repo = r
		w.trackIn(t, r, made[r.NodeID()])
	}
	w.tickNow(t)
	w.settleAll(t)
	for range 30 + repos/5 {
		w.hub.ResetLog()
		w.tickNow(t)
		if len(w.hub.Requests()) <= (repos+99)/100 {
			return w
		}
	}
	for _, r := range w.hub.Requests() {
		t.Logf("%s %s?%s %d %.100s", r.Method, r.Path, r.Query, r.Status, r.Body)
	}
	t.Fatal("many passes, and there is still something to read")
	return nil
}

// populateQuiet is populate without comments.
func (w *world) populateQuiet(t *testing.T) map[int]int {
	t.Helper()
	numbers := map[int]int{}
	first, err := w.repo.SeedPulls(githubsim.Bulk{Pulls: w.pulls, Author: operator, Reviewer: operator, Branch: "agent/small/"})
	must(t, err)
	for i := range w.pulls {
		numbers[1000+i] = first + i
	}
	return numbers
}

// trackIn is track for one of several repositories.
func (w *world) trackIn(t *testing.T, r *githubsim.Repo, numbers map[int]int) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, w.database(), store.Options{Now: time.Now})
	must(t, err)
	must(t, db.Update(ctx, func(tx *store.Tx) error {
		rows, err := tx.ListRepos(ctx)
		if err != nil {
			return err
		}
		row := rows[slices.IndexFunc(rows, func(x work.Repo) bool { return x.NodeID == r.NodeID() })]
		for issue, number := range numbers {
			pull, _ := r.Pull(number)
			if err := w.trackOne(ctx, tx, row, issue, pull); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, db.Close())
}

func (w *world) trackOne(ctx context.Context, tx *store.Tx, repo work.Repo, issue int, pull githubsim.Pull) error {
	id, err := tx.AddItem(ctx, work.Item{
		RepoID: repo.ID, Number: issue, Flow: work.FlowSmallJob, State: work.StateAwaitingFeedback, Title: "t",
		Author: work.Account{Login: reviewer}, Priority: 3, Label: label, LabelEvent: "1", Branch: pull.Head,
	})
	if err != nil {
		return err
	}
	_, err = tx.PutPull(ctx, work.PullRequest{
		RepoID: repo.ID, ItemID: id, Number: pull.Number, NodeID: pull.NodeID, Title: pull.Title, State: work.PullOpen,
		Branch: pull.Head, HeadOID: pull.HeadOID, Base: pull.Base,
	})
	return err
}

// tickNow makes a pass that waits for nothing, and gives its processor time.
func (w *world) tickNow(t *testing.T) time.Duration {
	t.Helper()
	c := exec.CommandContext(t.Context(), w.program.path, "tick", "--now")
	c.Env = slices.Concat(w.environ(), w.program.env, []string{"PATH=" + os.Getenv("PATH")})
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("tick: %v\n%s", err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// settleAll marks everything that was found as dealt with.
func (w *world) settleAll(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, w.database(), store.Options{Now: time.Now})
	must(t, err)
	must(t, db.Update(ctx, func(tx *store.Tx) error {
		rows, err := tx.ListRepos(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			pending, err := tx.ListPendingEvents(ctx, row.ID)
			if err != nil {
				return err
			}
			for _, e := range pending {
				if err := tx.FinishEvents(ctx, []int64{e.ID}, "handled", time.Now()); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	must(t, db.Close())
}
