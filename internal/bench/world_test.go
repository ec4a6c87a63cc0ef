//go:build unix

package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

const (
	simHost  = "github.localhost"
	operator = "operator"
	reviewer = "ann" // says much, and is no reviewer of the config
	person   = "bob" // is one
	repoName = "octo/app"
	comments = 20 // on each pull request
	label    = "agent:small-job"

	// age is how long everything on the hub lies back, so that it is no news.
	age = 3 * time.Hour
)

// shape says how much there is in a world.
type shape struct {
	repos    int
	pulls    int      // in each repository
	comments int      // on each pull request
	labels   []string // of each issue, beside the one that begins work
}

// world is a machine with repositories of open tracked pull requests, all of
// them quiet.
type world struct {
	shape
	dir     string
	socket  string
	hub     *githubsim.Hub
	repo    *githubsim.Repo // the first one
	all     []*githubsim.Repo
	program program
	server  string                    // URL of the database that all machines have; empty: there is one machine, with its file
	fleet   fleet                     // the machines
	tokens  []string                  // of the accounts that they are logged in with
	other   string                    // the path of another config than config.toml for the first machine; empty: that one
	past    atomic.Bool               // the hub's clock stands in the past
	later   atomic.Int64              // how far it is ahead of the world's, in nanoseconds
	still   atomic.Pointer[time.Time] // the moment at which the world's clock stands; nil: it is this machine's

	mode          mode   // of the config that was written last
	quietPeriod   string // after which comments are acted on; empty: at once
	minInterval   string // empty: none
	moreConfig    string // further lines of [runtime]
	ingestTimeout string // empty: so long that nothing is cut
	agentText     string // the agent's program; empty: it approves
}

// newWorld is a world of one repository.
func newWorld(t *testing.T, p program, pulls int) *world {
	t.Helper()
	return newWorldOf(t, p, shape{1, pulls, comments, nil})
}

// newWorldOf makes the hub, lets passes of the program read all of it, and
// settles what they found, so that the next pass is an idle one.
func newWorldOf(t *testing.T, p program, s shape) *world {
	t.Helper()
	w := newUnreadWorld(t, p, s)
	w.untilQuiet(t)
	w.settle(t)
	w.writeConfig(t, listening)
	w.untilQuiet(t)
	return w
}

// newUnreadWorld tracks pull requests of which nothing was read.
func newUnreadWorld(t *testing.T, p program, s shape) *world {
	t.Helper()
	w := newEmptyWorld(t, p, s)
	// The first pass meets empty repositories: what people say in the next
	// ones is read, and starts nothing while there is no feedback loop.
	w.writeConfig(t, quiet)
	w.tick(t)
	w.past.Store(true)
	numbers := w.populate(t)
	w.past.Store(false)
	w.track(t, numbers)
	return w
}

// newEmptyWorld has the hub, and a machine on which no pass was ever made.
func newEmptyWorld(t *testing.T, p program, s shape) *world {
	t.Helper()
	return newEmptyFleet(t, p, s, alone, "")
}

// newEmptyFleet is newEmptyWorld with the machines that have a database on a server.
func newEmptyFleet(t *testing.T, p program, s shape, f fleet, server string) *world {
	t.Helper()
	w := &world{shape: s, dir: t.TempDir(), program: p, fleet: f, server: server}
	short, err := os.MkdirTemp("/tmp", "mx") // a socket's path has at most 107 bytes
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(short)) })
	w.socket = filepath.Join(short, "s")
	w.startHub(t)
	must(t, os.MkdirAll(filepath.Join(w.dir, "gh"), 0o755))
	must(t, os.WriteFile(filepath.Join(w.dir, "gh", "config.yml"), []byte("http_unix_socket: "+w.socket+"\n"), 0o600))
	return w
}

func (w *world) startHub(t *testing.T) {
	t.Helper()
	w.past.Store(true)
	defer w.past.Store(false)
	var err error
	w.hub, err = githubsim.New(githubsim.Options{Dir: filepath.Join(w.dir, "hub"), Now: func() time.Time {
		if w.past.Load() {
			return w.now().Add(-age)
		}
		return w.now().Add(time.Duration(w.later.Load()))
	}})
	must(t, err)
	t.Cleanup(func() {
		if unknown := w.hub.Unknown(); len(unknown) > 0 {
			t.Errorf("githubsim has no handler for: %s", strings.Join(unknown, ", "))
		}
		must(t, w.hub.Close())
	})
	for _, login := range []string{reviewer, person} {
		_, err = w.hub.AddUser(login)
		must(t, err)
	}
	for i := range w.fleet.accounts {
		token, err := w.hub.AddUser(login(i))
		must(t, err)
		w.tokens = append(w.tokens, token)
	}
	must(t, w.hub.AddOrg("octo"))
	for i := range w.repos {
		name := repoName
		if i > 0 {
			name = fmt.Sprintf("%s%d", repoName, i+1)
		}
		repo, err := w.hub.AddRepo(name, map[string]string{"README.md": "# App\n"})
		must(t, err)
		for i := range w.fleet.accounts {
			must(t, repo.SetPermission(login(i), "admin"))
		}
		must(t, repo.SetPermission(reviewer, "write"))
		must(t, repo.SetPermission(person, "write"))
		w.all = append(w.all, repo)
	}
	w.repo = w.all[0]
	// Many runs in one hour: only the count is of interest here.
	for i := range w.fleet.accounts {
		for _, resource := range []string{"core", "graphql"} {
			must(t, w.hub.SetLimit(login(i), resource, 1_000_000))
		}
	}
	must(t, w.hub.ServeUnix(w.socket))
}

// login names one of the accounts that machines are logged in with.
func login(account int) string {
	if account == 0 {
		return operator
	}
	return fmt.Sprintf("%s%d", operator, account+1)
}

// now is the time of the world.
func (w *world) now() time.Time {
	if still := w.still.Load(); still != nil {
		return *still
	}
	return time.Now()
}

// atOnce has something happen in one moment, however long it takes here: what a pass then
// asks does not depend on how busy the machine is.
func (w *world) atOnce(happen func()) {
	now := time.Now()
	w.still.Store(&now)
	defer w.still.Store(nil)
	happen()
}

func (w *world) writeConfig(t *testing.T, m mode) {
	t.Helper()
	must(t, os.WriteFile(w.agent(), []byte(cmp.Or(w.agentText, approves)), 0o700))
	w.mode = m
	if w.fleet.accounts > 1 {
		w.shareAccounts(t)
	}
	for machine := range w.fleet.machines {
		must(t, os.WriteFile(w.config(machine), []byte(w.configOf(machine, m)), 0o600))
	}
}

// shareAccounts has each machine take the accounts of the others for ours.
func (w *world) shareAccounts(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, w.database(), store.Options{Now: w.now})
	must(t, err)
	err = db.Update(ctx, func(tx *store.Tx) error {
		var errs []error
		for i := range w.fleet.accounts {
			errs = append(errs, tx.AddAccount(ctx, simHost, work.Account{ID: w.hub.UserID(login(i)), Login: login(i)}, work.RoleOperator))
		}
		return errors.Join(errs...)
	})
	must(t, errors.Join(err, db.Close()))
}

// timingsVariable has the timings of passes, see config.TimingsVariable.
const timingsVariable = "MERGEXO_TIMINGS"

// timings are the timings of passes. In a quiet world nobody's comments are answered.
func (w *world) timings() string {
	quietPeriod := cmp.Or(w.quietPeriod, "0s")
	if w.mode == quiet {
		quietPeriod = "8760h"
	}
	return fmt.Sprintf("min_interval=%s,ingest_timeout=%s,quiet_period=%s,retry_base=1ms", cmp.Or(w.minInterval, "0s"), cmp.Or(w.ingestTimeout, "10m"), quietPeriod)
}

// config is the path of a machine's config.
func (w *world) config(machine int) string {
	if machine == 0 {
		return cmp.Or(w.other, filepath.Join(w.dir, "config.toml"))
	}
	return filepath.Join(w.dir, fmt.Sprintf("config-%d.toml", machine+1))
}

func (w *world) configOf(machine int, m mode) string {
	shared := ""
	if w.server != "" {
		shared = fmt.Sprintf("database = %q\nmachine = \"machine-%d\"\n", w.server, machine+1)
	}
	text := fmt.Sprintf(`[runtime]
agent = "none"
state_dir = %q
%s
[agents.none]
adapter = "command"
command = [%q]
`, w.stateOf(machine), shared+w.moreConfig, w.agent())
	for _, r := range w.all {
		text += fmt.Sprintf("\n[[repo]]\nname = %q\nremote_url = %q\n%s", r.FullName(), r.GitDir(), m.review())
	}
	return text
}

// populate makes the issues and their pull requests, and returns for each repository,
// by its name, the number of each issue's pull request.
func (w *world) populate(t *testing.T) map[string]map[int]int {
	t.Helper()
	numbers := map[string]map[int]int{}
	for _, r := range w.all {
		must(t, r.SeedIssues(reviewer, "Please.", w.pulls, label))
		first, err := r.SeedPulls(githubsim.Bulk{Pulls: w.pulls, Comments: w.comments, Author: operator, Reviewer: reviewer, Branch: "agent/small/"})
		must(t, err)
		of := map[int]int{}
		for i := range w.pulls {
			of[i+1] = first + i // the repository was empty
		}
		numbers[r.FullName()] = of
	}
	return numbers
}

// track records what turns that opened these pull requests would have: an item
// and a pull request whose details nobody has read yet.
func (w *world) track(t *testing.T, numbers map[string]map[int]int) {
	t.Helper()
	w.update(t, func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		on := w.hub.Repo(repo.Name.FullName())
		for issue, number := range numbers[repo.Name.FullName()] {
			is, _ := on.Issue(issue)
			pull, ok := on.Pull(number)
			if !ok {
				return fmt.Errorf("no pull request %d", number)
			}
			id, err := tx.AddItem(ctx, work.Item{
				RepoID: repo.ID, Number: issue, Flow: work.FlowSmallJob, State: work.StateAwaitingFeedback, Title: is.Title, Body: is.Body,
				Author: work.Account{Login: reviewer}, Priority: 3, Label: label, LabelEvent: "1", Branch: pull.Head,
			})
			if err != nil {
				return err
			}
			pullID, err := tx.PutPull(ctx, work.PullRequest{
				RepoID: repo.ID, ItemID: id, Number: number, NodeID: pull.NodeID, Title: pull.Title, State: work.PullOpen,
				Branch: pull.Head, HeadOID: pull.HeadOID, Base: pull.Base,
			})
			if err != nil {
				return err
			}
			if err := tx.MarkReviewsChanged(ctx, pullID); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle marks everything that was said as dealt with.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.update(t, func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		pending, err := tx.ListPendingEvents(ctx, repo.ID)
		if err != nil {
			return err
		}
		if want := w.pulls * w.comments; len(pending) != want {
			return fmt.Errorf("%d events are pending, not %d", len(pending), want)
		}
		ids := make([]int64, len(pending))
		for i, e := range pending {
			ids[i] = e.ID
		}
		return tx.FinishEvents(ctx, ids, "handled", w.now())
	})
}

// ageDetails makes every pull request's details as old as the hub, so that
// rotation reads some of them again.
func (w *world) ageDetails(t *testing.T) {
	t.Helper()
	w.update(t, func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		pulls, err := tx.ListWholeOpenPulls(ctx, repo.ID)
		for _, p := range pulls {
			p.DetailsAt = p.DetailsAt.Add(-age)
			if _, err := tx.PutPull(ctx, p); err != nil {
				return err
			}
		}
		return err
	})
}

// update changes the state database as the program does, for each repository.
func (w *world) update(t *testing.T, change func(context.Context, *store.Tx, work.Repo) error) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, w.database(), store.Options{Now: w.now})
	must(t, err)
	err = db.Update(ctx, func(tx *store.Tx) error {
		repos, err := tx.ListRepos(ctx)
		if err != nil || len(repos) != w.repos {
			return errors.Join(fmt.Errorf("%d repositories", len(repos)), err)
		}
		for _, r := range repos {
			if err := change(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, errors.Join(err, db.Close()))
}

// untilQuiet makes passes until one only asks what an idle pass asks.
func (w *world) untilQuiet(t *testing.T) {
	t.Helper()
	for range 50 {
		w.hub.ResetLog()
		w.tick(t)
		if w.counts().quiet() {
			return
		}
	}
	t.Fatal("50 passes, and there is still something to read")
}

// quiet tells whether a pass only asked what an idle pass asks.
func (c counts) quiet() bool {
	return c.rest == c.notModified && c.other == 0 && c.rotations == 0
}

func (w *world) state() string    { return w.stateOf(0) }
func (w *world) agent() string    { return filepath.Join(w.dir, "agent") }
func (w *world) database() string { return cmp.Or(w.server, filepath.Join(w.state(), "state.db")) }

// stateOf is the state folder of a machine.
func (w *world) stateOf(machine int) string {
	if machine == 0 {
		return filepath.Join(w.dir, "state")
	}
	return filepath.Join(w.dir, fmt.Sprintf("state-%d", machine+1))
}

// environ is what a program in the world sees: setup A of gh on a socket. No
// program is in PATH: an idle pass starts none.
func (w *world) environ() []string { return w.environOf(0) }

func (w *world) environOf(machine int) []string {
	home := filepath.Join(w.dir, "home")
	moment := ""
	if still := w.still.Load(); still != nil {
		moment = still.Format(time.RFC3339Nano)
	}
	return []string{
		momentVariable + "=" + moment, timingsVariable + "=" + w.timings(),
		"HOME=" + home, "GH_CONFIG_DIR=" + filepath.Join(w.dir, "gh"), "GH_HOST=" + simHost, "GH_TOKEN=" + w.tokens[w.fleet.account(machine)],
		"GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1", "LC_ALL=C.UTF-8", "MERGEXO_CONFIG=" + w.config(machine),
	}
}

// counts sorts the requests since the hub's log was emptied.
type counts struct {
	rest, notModified int
	sweeps, rotations int
	points            int // of GraphQL, since the user was made
	boxes             int // queries for merge boxes
	other             int // GraphQL that is none of these, and writes
}

func (w *world) counts() counts {
	c := counts{points: w.hub.Used(operator, "graphql")}
	for _, r := range w.hub.Requests() {
		switch {
		case r.Write:
			c.other++
		case r.Path != "/graphql":
			c.rest++
			if r.Conditional && r.NotModified {
				c.notModified++
			}
		case strings.Contains(r.Body, "query Sweep("):
			c.sweeps++
		case strings.Contains(r.Body, "query Details("):
			c.rotations++
		case strings.Contains(r.Body, "query Boxes("):
			c.boxes++
		default:
			c.other++
		}
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
