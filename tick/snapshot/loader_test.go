package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	app  = work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	cfg  = &config.Config{
		Runtime: config.Runtime{Workers: 4, Timings: config.Timings{MaxEventsPerTurn: 50, ChecksTimeout: time.Hour}},
		Repos: []config.Repo{{
			Name: app, Labels: work.Labels{Ignore: "agent:ignore"},
			Review: config.Review{Enabled: true, Merge: config.Merging{Auto: true, ChecksTimeout: time.Hour}}, Reviewers: []config.Reviewer{{Name: "quinn", Flows: []work.Flow{work.FlowBugfix}}, {Name: "grace", Human: true, Login: "grace", Flows: []work.Flow{work.FlowBugfix}}},
		}},
	}
)

// sown is a database with one item of each kind that a plan distinguishes, by its number.
func sown(t *testing.T) (*store.DB, work.Repo) {
	t.Helper()
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	s := sower{}
	err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
		if s.repo, err = testdb.Repo(t.Context(), tx, app); err != nil {
			return err
		}
		s.ctx, s.tx = t.Context(), tx
		s.all()
		return s.err
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, s.repo
}

type sower struct {
	ctx  context.Context //nolint:containedctx // of one transaction
	tx   *store.Tx
	repo work.Repo
	err  error
}

func (s *sower) all() {
	label := func(i int64, n int) { s.event(i, n, work.EventLabelled, "") }
	label(s.item(10, work.FlowBugfix, work.StatePending), 10) // begins
	answered := s.item(20, work.FlowBugfix, work.StateAwaitingFeedback)
	s.pull(answered, 21, work.PullOpen)
	s.event(answered, 21, work.EventReview, "") // in a resolved thread
	s.event(answered, 21, work.EventIssue, "")
	s.event(answered, 20, work.EventSource, work.OutcomeRedirected)
	s.event(answered, 20, work.EventSource, "")
	s.pull(s.item(30, work.FlowBugfix, work.StateAwaitingFeedback), 31, work.PullOpen) // waits for people
	s.item(40, work.FlowBugfix, work.StateBlocked)                                     // waits for people, too
	s.pull(s.item(50, work.FlowBugfix, work.StateAwaitingFeedback), 51, work.PullOpen) // paused
	s.do(s.tx.BeginPause(s.ctx, work.Pause{RepoID: s.repo.ID, Number: 51, Began: noon, By: "bob"}))
	rewritten := s.pull(s.item(60, work.FlowBugfix, work.StateAwaitingFeedback), 61, work.PullOpen)
	s.do(s.tx.SetLost(s.ctx, rewritten, "lost"))
	s.pull(s.item(70, work.FlowImplementation, work.StateAwaitingFeedback), 71, work.PullOpen) // active
	ready := s.item(80, work.FlowImplementation, work.StateReady)
	s.event(ready, 80, work.EventMerged, "")
	s.do(s.tx.PutDependency(s.ctx, store.Dependency{ItemID: ready, Ref: "github.com/octo/app#9", State: work.DependencyOpen}))
	free := s.item(85, work.FlowImplementation, work.StateReady) // waits, weighed against 71
	s.event(free, 85, work.EventMerged, "")
	s.do(s.tx.PutDependency(s.ctx, store.Dependency{ItemID: free, Ref: "github.com/octo/app#9", State: work.DependencyClosed}))
	label(s.item(90, work.FlowBugfix, work.StateClosed), 90) // over, with a pending event
	s.item(100, work.FlowBugfix, work.StateCompleted)        // over
	given := s.item(110, work.FlowBugfix, work.StateBlocked) // given back, and its comment still shows that people have it
	s.do(s.tx.PutStop(s.ctx, work.Stop{ItemID: given, Number: 110, Token: "t", Reason: work.Reason{Kind: work.WhyQuestion, Text: "which?"}, Attempts: 1, Since: noon, Taken: noon}))
	asked := s.item(120, work.FlowBugfix, work.StateAwaitingIssueFollowup)
	s.event(asked, 120, work.EventSource, "")
	s.do(s.tx.PutFollowup(s.ctx, work.Followup{ItemID: asked, Reason: work.Reason{Kind: work.WhyQuestion}, EventCursor: 1000, Since: noon}))
	s.event(0, 130, work.EventCommand, "")                                       // nothing is worked on there
	s.reviewed(s.item(140, work.FlowBugfix, work.StateAwaitingFeedback), 141, 0) // a reviewer must look at it
	s.reviewed(s.item(150, work.FlowBugfix, work.StateAwaitingFeedback), 151, 1) // a person reviews it next, and was asked
	s.landing(s.item(160, work.FlowBugfix, work.StateAwaitingFeedback), 161)     // approved, and merged by us once all gates are open
}

// landing adds an approved pull request with all that is stored about merging it.
func (s *sower) landing(item int64, number int) {
	pull := s.pull(item, number, work.PullOpen)
	for n, name := range []string{"quinn", "grace"} {
		_, _, err := s.tx.AddVerdict(s.ctx, review.Verdict{PullID: pull, ReviewID: int64(20 + n), Reviewer: name, Human: n == 1, By: work.Account{ID: int64(n), Login: name}, Head: "aaa", Decision: review.Approve, At: noon})
		s.do(err)
	}
	box := merging.Box{State: work.PullOpen, Head: "aaa", Base: "main", Mergeable: "MERGEABLE", Status: "CLEAN", Methods: merging.Methods(), Permission: "WRITE", ChecksKnown: true}
	s.do(s.tx.PutBox(s.ctx, pull, box))
	_, err := s.tx.AddMergeApproval(s.ctx, merging.MergeApproval{PullID: pull, Head: "aaa", CommentID: 9, By: work.Account{ID: 7, Login: "ann"}, At: noon})
	s.do(err)
	s.do(s.tx.SetMergeTrouble(s.ctx, pull, "old", work.Reason{Kind: work.WhyMergeRefused, Text: "of another head"}))
	_, err = s.tx.AddAction(s.ctx, work.Action{
		RepoID: s.repo.ID, ItemID: item, Kind: work.ActionUpdateBranch, Need: work.NeedRequired, State: work.ActionPlanned, Number: number, Head: "old", Base: "main", Token: "update",
	})
	s.do(err)
	before, err := s.tx.GetReviews(s.ctx, pull)
	s.do(err)
	after := before.Record
	after.State, after.Head, after.Why = review.Approved, "aaa", work.Reason{Kind: work.WhyReviewApproved, Number: number}
	s.do(s.tx.PutReviewState(s.ctx, before.Record, after))
	name, err := policyName(cfg.Repos[0])
	s.do(err)
	before, err = s.tx.GetReviews(s.ctx, pull)
	s.do(err)
	s.do(s.tx.MarkReviewsDecided(s.ctx, pull, before.Look, name))
}

// reviewed adds a pull request whose reviews were decided that many times.
func (s *sower) reviewed(item int64, number, looks int) {
	pull := s.pull(item, number, work.PullOpen)
	s.do(s.tx.MarkReviewsChanged(s.ctx, pull))
	_, _, err := s.tx.AddVerdict(s.ctx, review.Verdict{PullID: pull, ReviewID: 1, Reviewer: "quinn", Head: map[bool]string{true: "aaa", false: "old"}[looks > 0], Decision: review.Approve, At: noon})
	s.do(err)
	if looks == 0 {
		return
	}
	before, err := s.tx.GetReviews(s.ctx, pull)
	s.do(err)
	after := before.Record
	after.State, after.Head, after.Reviewer = review.Reviewing, "aaa", "grace"
	s.do(s.tx.PutReviewState(s.ctx, before.Record, after))
	_, err = s.tx.AddRequest(s.ctx, store.ReviewRequest{PullID: pull, Reviewer: "grace", Head: "aaa"})
	s.do(err)
	name, err := policyName(cfg.Repos[0])
	s.do(err)
	s.do(s.tx.MarkReviewsDecided(s.ctx, pull, before.Look, name))
}

func (s *sower) do(err error) { s.err = cmp.Or(s.err, err) }

func (s *sower) item(number int, flow work.Flow, state work.State) int64 {
	id, err := s.tx.AddItem(s.ctx, work.Item{RepoID: s.repo.ID, Number: number, Flow: flow, State: state, Priority: 3, Since: noon.Add(-time.Hour), DependsOn: []string{"github.com/octo/app#9"}, TouchPaths: []string{"a.go"}})
	s.do(err)
	return id
}

func (s *sower) pull(item int64, number int, state work.PullState) int64 {
	id, err := s.tx.PutPull(s.ctx, work.PullRequest{
		RepoID: s.repo.ID, ItemID: item, Number: number, State: state, Branch: fmt.Sprint("agent/", number), Base: "main", HeadOID: "aaa", CreatedAt: noon.Add(-time.Hour),
		Files: []string{"a.go"},
	})
	s.do(err)
	s.do(s.tx.PutThreads(s.ctx, id, []work.Thread{{NodeID: fmt.Sprint("T", number), Top: 55, Resolved: true}, {NodeID: fmt.Sprint("U", number), Top: 56}}))
	return id
}

func (s *sower) event(item int64, number int, kind work.EventKind, outcome string) {
	at := noon.Add(-10 * time.Minute)
	e := work.Event{
		RepoID: s.repo.ID, ItemID: item, Number: number, Kind: kind, Source: fmt.Sprint(number, outcome), Hash: "h", Body: "/mergexo bugfix", ThreadTop: 55,
		Author: work.Account{ID: 7, Login: "ann"}, CreatedAt: at, UpdatedAt: at, SeenAt: at,
	}
	e.Key = work.EventKey(number, kind, e.Source, e.Hash)
	if e.Outcome = outcome; outcome != "" {
		e.ProcessedAt = noon
	}
	_, err := s.tx.AddEvent(s.ctx, e)
	s.do(err)
}

func numbers(items []known.Item) (all []int) {
	for _, i := range items {
		all = append(all, i.Number)
	}
	return all
}

func linesOf(made plan.Plan) (all string) {
	for _, l := range made.Lines() {
		all += fmt.Sprintf("#%d %s %s: %s\n", l.Number, l.What, l.Kind, l.Reason)
	}
	return all
}

// The pass reads the items with something to decide and those they are weighed against; status
// reads more, and the plan of all of them is the same.
func TestThePlanIsTheSameHoweverMuchIsRead(t *testing.T) {
	db, repo := sown(t)
	p := New(&env.Env{Config: cfg, Store: db, Now: func() time.Time { return noon }, Day: spending.DayOf(nil, work.Budgets{}, noon)})
	r := &env.Repo{Remote: env.Remote{Name: app, Settings: cfg.Repos[0]}, Row: repo}
	lines := map[which]string{}
	want := map[which][]int{
		asking: {10, 20, 50, 60, 70, 80, 85, 90, 110, 120, 140, 160},
		open:   {10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 110, 120, 140, 150, 160},
		all:    {10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 100, 110, 120, 140, 150, 160},
	}
	for w, numbered := range want {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			v, err := p.read(t.Context(), tx, r, w)
			if got := numbers(v.Items); !slices.Equal(got, numbered) {
				t.Errorf("%d: read %v, not %v", w, got, numbered)
			}
			if got := numbers(v.Untracked); !slices.Equal(got, []int{130}) {
				t.Errorf("%d: commands on %v", w, got)
			}
			made := plan.For(v)
			if len(plan.Of[change.Takeover](made)) != 1 {
				t.Errorf("%d: banners %+v", w, plan.Of[change.Takeover](made))
			}
			lines[w] = linesOf(made)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	v, err := p.View(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if made := linesOf(plan.For(v)); made != lines[asking] || !slices.Equal(numbers(v.Items), want[asking]) {
		t.Errorf("a pass reads %v and plans\n%s\nnot\n%s", numbers(v.Items), made, lines[asking])
	}
	if !strings.Contains(lines[asking], "#141 turn review: reviewer quinn is next") {
		t.Errorf("nobody reviews #141:\n%s", lines[asking])
	}
	if !strings.Contains(lines[asking], "#85 wait implementation_start: it would collide") {
		t.Errorf("#85 is not weighed against #71:\n%s", lines[asking])
	}
	if !strings.Contains(lines[asking], "#161 merge : PR #161 is merged into main (squash)") {
		t.Errorf("nobody merges #161:\n%s", lines[asking])
	}
	if lines[asking] != lines[open] || lines[asking] != lines[all] {
		t.Errorf("the pass plans\n%s\nwith all that is open\n%s\nwith all\n%s", lines[asking], lines[open], lines[all])
	}
}

func TestAnItemIsReadWhole(t *testing.T) {
	db, repo := sown(t)
	items := map[int]known.Item{}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		v, err := Board(t.Context(), tx, cfg, repo, spending.Day{}, noon, true)
		for _, i := range v.Items {
			items[i.Number] = i
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"pull request":       items[20].Pull.Number == 21 && !items[10].HasPull(),
		"threads":            slices.Equal(items[20].Resolved, []int64{55}),
		"pending events":     len(items[20].Events) == 3 && len(items[30].Events) == 0,
		"pointed events":     len(items[20].Pointed) == 1,
		"to be answered":     len(items[20].Unanswered()) == 2 && len(items[120].Unanswered()) == 0 && len(items[120].Events) == 1,
		"pause":              items[50].Pause != nil && items[50].Pause.By == "bob" && items[30].Pause == nil,
		"rewritten branch":   items[60].Pull.Rewritten() && items[60].NeedsDecision() && !items[30].NeedsDecision(),
		"room that is taken": items[70].Active() && len(items[70].Pull.Files) == 1 && !items[80].Active() && !items[20].Active(),
		"dependencies":       items[80].Dependencies["github.com/octo/app#9"] == work.DependencyOpen,
		"stop":               items[110].Stop.Reason.Text == "which?" && items[40].Stop.Token == "",
		"reviews":            items[140].ReviewsChanged && items[140].Reviewers.Order[0].Name == "quinn" && len(items[140].Reviews.Verdicts) == 1,
		"reviews that wait":  !items[150].ReviewsChanged && items[150].Reviews.Record.Reviewer == "grace" && slices.Equal(items[150].Reviews.Requested, []string{"grace"}),
		"nobody reviews":     items[20].Reviews.Record.State == "" && items[20].Reviewers.Author == "",
		"merging":            items[160].AutoMerges() && items[160].Landing.Box.Read() && len(items[160].Landing.MergeApprovals) == 1 && len(items[160].Landing.Actions) == 1 && items[160].Landing.Trouble.None(),
		"follow-up":          items[120].Followup != nil && items[10].Followup == nil,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, items)
		}
	}
}

// A request is decided by the state at that moment: by the box just read, and by one item only.
func TestAMergeIsDecidedAfresh(t *testing.T) {
	db, repo := sown(t)
	p := New(&env.Env{Config: cfg, Store: db, Now: func() time.Time { return noon }})
	r := &env.Repo{Remote: env.Remote{Name: app, Settings: cfg.Repos[0]}, Row: repo}
	for status, want := range map[string]merging.Ask{"CLEAN": merging.AskMerge, "BEHIND": merging.AskUpdate, "DIRTY": merging.AskNothing} {
		box := merging.Box{State: work.PullOpen, Head: "aaa", Base: "main", Mergeable: "MERGEABLE", Status: status, Methods: merging.Methods(), Permission: "WRITE", ChecksKnown: true}
		if status == "DIRTY" {
			box.Mergeable = "CONFLICTING"
		}
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			v, item, err := p.ForMerge(t.Context(), tx, r, 161, box)
			if c := plan.Merging(v, item); c.Ask != want {
				t.Errorf("%s: %q, not %q: %s", status, c.Ask, want, c.Why)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// We merged a pull request if our own merge of its head was sent.
func TestWhoMerged(t *testing.T) {
	for name, c := range map[string]struct {
		stage merging.Stage
		sent  bool
		want  review.MergeType
	}{
		"a person, without us":         {"", false, ""},
		"it was meant, and never sent": {merging.Intended, false, ""},
		"it was sent":                  {merging.Intended, true, review.MergedAuto},
		"by the queue":                 {merging.Queued, false, review.MergedAuto},
		"nothing came of it":           {merging.Void, true, ""},
	} {
		db, repo := sown(t)
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			pull, _, err := tx.GetPull(t.Context(), repo.ID, 161)
			if err != nil {
				return err
			}
			if c.stage != "" {
				if _, err := tx.PutMerge(t.Context(), merging.Merge{RepoID: repo.ID, PullID: pull.ID, Number: 161, Head: "aaa", Base: "main", Method: merging.Squash, Stage: c.stage, At: noon}); err != nil {
					return err
				}
			}
			a, err := tx.PlanMerging(t.Context(), work.Action{
				RepoID: repo.ID, ItemID: pull.ItemID, Kind: work.ActionMerge, Need: work.NeedRequired, State: work.ActionPlanned, Number: 161, Head: "aaa", Token: work.MergeToken(repo.Key(), 161, "aaa"),
			})
			if err != nil {
				return err
			}
			if c.sent {
				if err := tx.MarkSent(t.Context(), a.ID, noon); err != nil {
					return err
				}
			}
			pull.State = work.PullMerged
			_, err = tx.PutPull(t.Context(), pull)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(t.Context(), func(tx *store.Tx) error {
			v, err := Board(t.Context(), tx, cfg, repo, spending.Day{}, noon, true)
			for _, i := range v.Items {
				if i.Number == 160 && i.Reviews.MergedBy != c.want {
					t.Errorf("%s: %q, not %q", name, i.Reviews.MergedBy, c.want)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
