package merge

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

func TestMain(m *testing.M) {
	testhome.InShort(
		"TestMergesWhatWasChosen", "TestNotChosenIsNotSent", "TestLandedOnce",
		"TestDiffers",
	)
	os.Exit(testhome.RunInMemory(m))
}

// stage is a simulated GitHub with an approved pull request of ours, a mirror, a database and
// Merging.
type stage struct {
	*testing.T
	hub      *githubsim.Hub
	sim      *githubsim.Repo
	mirror   string
	repo     *env.Repo
	env      *env.Env
	merging  *Merging
	fresh    func() *Merging // with the database of env
	report   *env.Report
	log      bytes.Buffer
	serial   int // number of the pull request
	issue    int
	pull     int
	head     string
	approval int64 // pat's last review that approves
	began    time.Time
	passed   atomic.Int64
}

const branch = "agent/bugfix/1-x"

func (s *stage) at() time.Time { return s.began.Add(time.Duration(s.passed.Load())) }

func (s *stage) later(d time.Duration) { s.passed.Add(int64(d)) }

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "mxm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &stage{T: t, began: time.Now().Truncate(time.Second)}
	s.hub, err = githubsim.New(githubsim.Options{Dir: t.TempDir(), Now: s.at})
	s.must(err)
	t.Cleanup(func() { _ = s.hub.Close() })
	token, err := s.hub.AddUser("olga")
	s.must(err)
	_, err = s.hub.AddUser("pat")
	s.must(err)
	s.sim, err = s.hub.AddRepo("octo/app", map[string]string{"README.md": "# App\n"})
	s.must(err)
	for _, who := range []string{"olga", "pat"} {
		s.must(s.sim.SetPermission(who, "write"))
	}
	s.must(s.hub.ServeUnix(filepath.Join(dir, "s")))
	client, err := github.New(transport.Options{Host: "github.localhost", Token: token, Socket: filepath.Join(dir, "s"), Now: s.at})
	s.must(err)
	s.assemble(client)
	s.open()
	return s
}

// assemble makes the parts of a pass.
func (s *stage) assemble(client *github.Client) {
	name := work.RepoName{Host: "github.localhost", Owner: "octo", Name: "app"}
	settings := config.Repo{
		Name: name, Labels: work.Labels{Ignore: "agent:ignore", Freeze: "agent:freeze", Hold: "agent:hold", Bugfix: "agent:bugfix"},
		Review:    config.Review{Enabled: true, Merge: config.Merging{Auto: true, ChecksTimeout: time.Hour}},
		Reviewers: []config.Reviewer{{Name: "quinn", Flows: []work.Flow{work.FlowBugfix}}},
	}
	state := s.TempDir()
	g, err := git.Open(s.Context(), git.Options{Env: os.Environ()})
	s.must(err)
	dirs := folder.Dirs{State: state}
	s.mirror = filepath.Join(state, "m.git")
	remote := env.Remote{Name: name, Settings: settings, GitHub: client, Mirror: func(r work.Repo) env.Mirror {
		return g.Mirror(s.mirror, s.sim.GitDir(), filepath.Join(state, "lock")).WithBase("main")
	}}
	cfg := &config.Config{Runtime: config.Runtime{Timings: config.Timings{SettleAfter: time.Minute, RetryBase: time.Second}, Workers: 1}, Repos: []config.Repo{settings}}
	e := &env.Env{Config: cfg, Dirs: dirs, Now: s.at, Log: slog.New(slog.NewTextHandler(&s.log, nil)), Secrets: &secrets.Redactor{}, Preflight: func(context.Context) error { return nil }, TokenVariable: func(string) string { return "" }}
	s.repo = &env.Repo{Remote: remote, Ready: true}
	e.All = []*env.Repo{s.repo}
	mayApprove := func(ctx context.Context, r *env.Repo, who work.Account, _ bool) (bool, error) {
		level, err := r.GitHub.Permission(ctx, r.Row.Current, who)
		return work.MayWrite(level), err
	}
	contain := func(_ context.Context, _ string, _ *env.Repo, _ int64, _ *env.Report, do func() error) error {
		return do()
	}
	s.env, s.fresh = e, func() *Merging {
		m := New(e, snapshot.New(e), mayApprove, contain, func(context.Context, *env.Repo, *env.Report) {})
		m.nextSecond = func(context.Context) { s.later(time.Second) }
		return m
	}
	s.lose()
}

// lose replaces the database by an empty one.
func (s *stage) lose() {
	s.Helper()
	db := testdb.Open(s, filepath.Join(s.TempDir(), "state.db"), s.at)
	s.Cleanup(func() { _ = db.Close() })
	s.env.Store = db
	s.merging = s.fresh()
	s.must(db.Update(s.Context(), func(tx *store.Tx) (err error) {
		s.repo.Row, err = testdb.Repo(s.Context(), tx, s.repo.Name)
		if err != nil {
			return err
		}
		_, _, err = tx.IdentifyRepo(s.Context(), s.repo.Row.ID, store.RepoIdentity{Current: s.repo.Name, NodeID: s.sim.NodeID(), GitHubID: s.sim.ID(), DefaultBranch: "main", At: s.at()})
		if err == nil {
			s.repo.Row, err = tx.GetRepo(s.Context(), s.repo.Row.ID)
		}
		return err
	}))
	s.repo.Row.Current = s.repo.Name
	s.view(func(tx *store.Tx) error { return s.env.LoadAccounts(s.Context(), tx, nil) })
	s.must(s.env.AcceptAccount(s.Context(), s.repo.Name.Host, work.Account{ID: s.hub.UserID("olga"), Login: "olga"}))
}

// open creates the issue and its pull request.
func (s *stage) open() {
	s.Helper()
	var err error
	s.sim.MakeLabel("agent:bugfix", "ffffff", "")
	s.issue, err = s.sim.OpenIssue("pat", "It is broken", "", "agent:bugfix")
	s.must(err)
	on, path := branch, "fix.txt"
	if s.serial > 0 {
		on, path = fmt.Sprint(branch, s.serial), fmt.Sprint("fix", s.serial, ".txt")
	}
	s.head, err = s.sim.PushCommit(on, "olga", map[string]string{path: "fixed\n"}, "Fix it")
	s.must(err)
	s.pull, err = s.sim.OpenPull("olga", githubsim.NewPull{Title: "Fix it", Body: fmt.Sprint("Fixes #", s.issue), Head: on})
	s.must(err)
	s.track()
	s.later(time.Minute) // what was done until now is no news
}

// track stores the pull request as approved at its head.
func (s *stage) track() {
	s.Helper()
	p, _, err := s.repo.GitHub.Pull(s.Context(), s.repo.Row.Current, s.pull)
	s.must(err)
	git := s.repo.Git()
	s.must(git.Ensure(s.Context()))
	s.must(git.Fetch(s.Context(), p.HeadOID, p.BaseOID))
	bases, err := git.MergeBases(s.Context(), p.BaseOID, p.HeadOID)
	s.must(err)
	s.update(func(tx *store.Tx) error {
		item, err := tx.AddItem(s.Context(), work.Item{RepoID: s.repo.Row.ID, Number: s.issue, Flow: work.FlowBugfix, Label: "agent:bugfix", State: work.StateAwaitingFeedback, Since: s.at()})
		if err != nil {
			return err
		}
		id, err := tx.PutPull(s.Context(), work.PullRequest{
			RepoID: s.repo.Row.ID, ItemID: item, Number: p.Number, NodeID: p.NodeID, URL: p.URL, Title: p.Title, State: p.State, Branch: p.Head, HeadOID: p.HeadOID, Base: p.Base, MergeCommit: p.MergeCommit, MergeBase: bases,
			Author: p.Author, UpdatedAt: s.at().Add(time.Hour), CreatedAt: p.CreatedAt,
		})
		if err != nil {
			return err
		}
		if _, _, err := tx.AddVerdict(s.Context(), review.Verdict{PullID: id, ReviewID: 1, Reviewer: "quinn", Head: p.HeadOID, MergeBase: bases, Decision: review.Approve, At: s.at()}); err != nil {
			return err
		}
		before, err := tx.GetReviews(s.Context(), id)
		if err != nil {
			return err
		}
		after := before.Record
		after.State, after.Head = review.Approved, p.HeadOID
		return tx.PutReviewState(s.Context(), before.Record, after)
	})
}

func (s *stage) update(do func(*store.Tx) error) {
	s.Helper()
	s.must(s.merging.store.Update(s.Context(), do))
}

func (s *stage) view(do func(*store.Tx) error) {
	s.Helper()
	s.must(s.merging.store.View(s.Context(), do))
}

// pass plans and merges as a pass does, and reads merge boxes anew.
func (s *stage) pass() {
	s.Helper()
	s.run(s.plan()...)
}

// decide reads merge boxes and plans.
func (s *stage) decide() plan.Plan {
	s.Helper()
	o := round{s.merging, s.repo, env.NewReport(s.at())}
	var pulls []work.PullRequest
	s.view(func(tx *store.Tx) (err error) {
		pulls, err = tx.ListMergeCandidates(s.Context(), s.repo.Row.ID)
		return err
	})
	for _, p := range pulls {
		box, err := o.box(s.Context(), &job{pull: p})
		s.must(err)
		s.update(func(tx *store.Tx) error {
			was, _, err := tx.GetBox(s.Context(), p.ID)
			if err != nil {
				return err
			}
			if was.Head == box.Head && !box.Queue.In { // as ingest does
				box.Queue.Left = was.Queue.Left
			}
			return tx.PutBox(s.Context(), p.ID, box)
		})
		if box.State != p.State { // as ingest does
			p.State = box.State
			s.update(func(tx *store.Tx) error { _, err := tx.PutPull(s.Context(), p); return err })
		}
	}
	v, err := snapshot.New(s.env).View(s.Context(), s.repo)
	s.must(err)
	return plan.For(v)
}

// plan stores a plan's merges and returns their tokens.
func (s *stage) plan() (chosen []string) {
	s.Helper()
	made := s.decide()
	var merges []change.Change
	for _, m := range plan.Of[change.Merge](made) {
		merges, chosen = append(merges, m), append(chosen, m.Action.Token)
	}
	_, err := change.Applier{Store: s.merging.store, Now: s.at}.Apply(s.Context(), made.Repo, merges)
	s.must(err)
	return chosen
}

// known returns the plan's line about the pull request.
func (s *stage) known() change.Line {
	s.Helper()
	for _, l := range s.decide().Lines() {
		if l.What == "wait" {
			return l
		}
	}
	return change.Line{}
}

// see stores the pull request's state as read.
func (s *stage) see(state work.PullState) {
	s.Helper()
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		now, _, err := s.repo.GitHub.Pull(s.Context(), s.repo.Row.Current, s.pull)
		if err != nil {
			return err
		}
		p.State, p.MergeCommit = state, now.MergeCommit
		_, err = tx.PutPull(s.Context(), p)
		return err
	})
}

// next opens another pull request.
func (s *stage) next() {
	s.Helper()
	s.see(work.PullMerged)
	s.update(func(tx *store.Tx) error {
		item, _, err := tx.FindItem(s.Context(), s.repo.Row.ID, s.issue)
		if err != nil {
			return err
		}
		return tx.MoveItem(s.Context(), item.ID, []work.State{work.StateAwaitingFeedback}, work.StateCompleted, work.Reason{}, "", s.at())
	})
	s.serial++
	s.open()
}

func (s *stage) push(path string) {
	s.Helper()
	_, err := s.sim.PushCommit(branch, "pat", map[string]string{path: "more\n"}, "More")
	s.must(err)
}

func (s *stage) base(path string) {
	s.Helper()
	_, err := s.sim.PushCommit("main", "pat", map[string]string{path: "theirs\n"}, "Theirs")
	s.must(err)
}

func (s *stage) freeze() {
	s.Helper()
	s.sim.MakeLabel("agent:freeze", "ffffff", "")
	_, err := s.sim.OpenIssue("pat", "Freeze", "", "agent:freeze")
	s.must(err)
}

func (s *stage) hold() {
	s.Helper()
	s.update(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err != nil {
			return err
		}
		return tx.SetHold(s.Context(), p.ID, review.Held{By: "pat", At: s.at()})
	})
}

func (s *stage) stop() {
	s.Helper()
	s.update(func(tx *store.Tx) error {
		return tx.StopMerging(s.Context(), s.repo.Row.ID, work.Reason{Kind: work.WhyMergeDiffers})
	})
}

// notice returns the newest planned comment on a number.
func (s *stage) notice(number int) (body string) {
	s.Helper()
	s.view(func(tx *store.Tx) error {
		all, err := tx.ChooseNotices(s.Context(), s.repo.Row.ID, nil)
		for _, a := range all {
			if a.Number == number {
				body = a.Body
			}
		}
		return err
	})
	return body
}

// run runs Merging.
func (s *stage) run(chosen ...string) {
	s.Helper()
	s.report = env.NewReport(s.at())
	s.merging.Run(s.Context(), s.repo, chosen, s.report)
}

// row returns our merge of the head.
func (s *stage) row() (m merging.Merge) {
	s.Helper()
	s.view(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err == nil {
			m, _, err = tx.FindMerge(s.Context(), p.ID, s.head)
		}
		return err
	})
	return m
}

// trouble returns why the head is not merged.
func (s *stage) trouble() (why work.Reason) {
	s.Helper()
	s.view(func(tx *store.Tx) error {
		p, _, err := tx.GetPull(s.Context(), s.repo.Row.ID, s.pull)
		if err == nil {
			_, why, err = tx.GetMergeTrouble(s.Context(), p.ID)
		}
		return err
	})
	return why
}

// outcome returns the last pass's report.
func (s *stage) outcome() string {
	var all []string
	for _, m := range s.report.Merges() {
		all = append(all, string(m.Outcome)+" "+string(m.Code))
	}
	return strings.TrimSpace(strings.Join(all, ", "))
}

// mains returns the number of commits on the base.
func (s *stage) mains() int {
	s.Helper()
	log, err := s.sim.Log("main")
	s.must(err)
	return len(log)
}

// asked returns the number of requests.
func (s *stage) asked(method, suffix string) (n int) {
	for _, rq := range s.hub.Requests() {
		if rq.Method == method && strings.HasSuffix(rq.Path, suffix) {
			n++
		}
	}
	return n
}

func (s *stage) quiet() *env.Report { return env.NewReport(s.at()) }
