package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// boxHub is a GitHub with merge boxes.
type boxHub struct {
	env.GitHub
	boxes map[int]merging.Box
	bad   map[int]error // each is about its pull request
	fatal map[int]error // each fails the whole query
	group []merging.Check
	asked []string

	passed time.Duration
}

func (h *boxHub) Now() time.Time { return noon.Add(h.passed) }

func (h *boxHub) Boxes(_ context.Context, _ work.RepoName, all []merging.BoxOf) ([]github.BoxRead, error) {
	asked, out := "boxes "+all[0].Freeze, []github.BoxRead(nil)
	for _, of := range all {
		asked += fmt.Sprint(" ", of.Number)
		out = append(out, github.BoxRead{Box: h.boxes[of.Number], Err: h.bad[of.Number]})
	}
	h.asked = append(h.asked, asked)
	for _, of := range all {
		if h.fatal[of.Number] != nil {
			return nil, h.fatal[of.Number]
		}
	}
	return out, nil
}

func (h *boxHub) RulesAgain(_ context.Context, _ work.RepoName, branch string, was merging.Rules) (merging.Rules, error) {
	if was.ETags["branch"] == branch {
		h.asked = append(h.asked, "same rules "+branch)
		return was, nil
	}
	h.asked = append(h.asked, "rules "+branch)
	return merging.Rules{Known: true, Checks: []string{"unit"}, ETags: map[string]string{"branch": branch}}, nil
}

func (h *boxHub) CommitChecks(_ context.Context, _ work.RepoName, commit string) ([]merging.Check, bool, error) {
	h.asked = append(h.asked, "checks "+commit)
	return h.group, true, nil
}

// mirror is a mirror whose base lacks the merge, or has one that GitHub does not show.
type mirror struct {
	env.Mirror
	hub    *boxHub
	landed string
}

func (mirror) Has(_ context.Context, oid string) bool { return oid != "ccc" && oid != "gone" }

// Changes says what a binary file, a renamed one and one of many lines change.
func (mirror) ListFiles(context.Context, string) ([]string, error) { return nil, nil }

func (m mirror) Changes(_ context.Context, from, to, _ string) ([]git.FileChange, error) {
	m.hub.asked = append(m.hub.asked, from+".."+to)
	return []git.FileChange{{Path: "a.go", Lines: 500, Counted: true}, {Path: "b.png", Lines: 1}, {Path: "now.go", From: "was.go", Lines: 40, Counted: true}}, nil
}

// Obeyed says that what a tip imports is a.go, after the base has moved.
func (m mirror) Obeyed(_ context.Context, trusted string, paths []string) ([]string, error) {
	if asked := "obeyed by " + trusted; !slices.Contains(m.hub.asked, asked) { // a mirror reads it once
		m.hub.asked = append(m.hub.asked, asked)
	}
	if trusted != "tip2" {
		return nil, nil
	}
	return paths[:1], nil
}

func (mirror) Fetch(_ context.Context, oids ...string) error {
	if slices.Contains(oids, "gone") {
		return &git.MissingError{OID: "gone"}
	}
	return nil
}

func (mirror) Head(context.Context, string) (string, bool, error) { return "bbb", true, nil }

func (m mirror) FindLanded(context.Context, string, string, string, string) (git.Landing, bool, error) {
	return git.Landing{OID: m.landed}, m.landed != "", nil
}

// world is a repository with approved pull requests, numbered by tens.
type world struct {
	t    *testing.T
	hub  *boxHub
	env  *env.Env
	r    *env.Repo
	repo work.Repo

	landed string // commit on the base, even if GitHub does not show it
}

func newWorld(t *testing.T, pulls int) *world {
	t.Helper()
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), func() time.Time { return noon })
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, hub: &boxHub{boxes: map[int]merging.Box{}, bad: map[int]error{}, fatal: map[int]error{}}}
	settings := config.Repo{
		Name: app, Labels: work.Labels{Freeze: "agent:freeze"}, Review: config.Review{Enabled: true, Merge: config.Merging{Auto: true}},
		Reviewers: []config.Reviewer{{Name: "quinn", Flows: []work.Flow{work.FlowBugfix}}},
	}
	w.env = &env.Env{Config: &config.Config{}, Store: db, TokenVariable: func(string) string { return "" }, Preflight: func(context.Context) error { return nil }, Now: w.hub.Now, Log: slog.New(slog.DiscardHandler)}
	w.update(func(ctx context.Context, tx *store.Tx) (err error) {
		if w.repo, err = testdb.Repo(ctx, tx, app); err != nil {
			return err
		}
		for n := range pulls {
			if err := w.addPull(ctx, tx, 10+10*n); err != nil {
				return err
			}
		}
		return nil
	})
	w.r = &env.Repo{Remote: env.Remote{Name: app, Settings: settings, GitHub: w.hub, Mirror: func(work.Repo) env.Mirror { return mirror{hub: w.hub, landed: w.landed} }}, Row: w.repo}
	return w
}

func (w *world) addPull(ctx context.Context, tx *store.Tx, number int) error {
	item, err := tx.AddItem(ctx, work.Item{RepoID: w.repo.ID, Number: number + 1, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback})
	if err != nil {
		return err
	}
	pull, err := tx.PutPull(ctx, work.PullRequest{
		RepoID: w.repo.ID, ItemID: item, Number: number, NodeID: fmt.Sprint("P", number), State: work.PullOpen, Branch: fmt.Sprint("agent/", number), Base: "main", HeadOID: "aaa", MergeBase: "base",
	})
	if err != nil {
		return err
	}
	w.hub.boxes[number] = merging.Box{State: work.PullOpen, Head: "aaa", Base: "main", BaseTip: "tip", Mergeable: "MERGEABLE", Status: "CLEAN"}
	return tx.PutReviewState(ctx, review.Record{PullID: pull}, review.Record{PullID: pull, State: review.Approved, Head: "aaa"})
}

func (w *world) update(do func(context.Context, *store.Tx) error) {
	w.t.Helper()
	if err := w.env.Store.Update(w.t.Context(), func(tx *store.Tx) error { return do(w.t.Context(), tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// pass reads and stores, and returns the requests and the new events.
func (w *world) pass() (asked string, b *reading) {
	w.t.Helper()
	asked, b, err := w.try()
	if err != nil {
		w.t.Fatal(err)
	}
	return asked, b
}

// try is pass, which may fail.
func (w *world) try() (asked string, b *reading, err error) {
	w.t.Helper()
	w.hub.asked = nil
	b = newReading(New(w.env, nil), w.r)
	if err = b.readMergeBoxes(w.t.Context()); err == nil {
		w.update(func(ctx context.Context, tx *store.Tx) error {
			for _, put := range b.puts {
				if err := put(ctx, tx, noon); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return strings.Join(w.hub.asked, ", "), b, err
}

func (w *world) stored(number int) (box merging.Box, trouble work.Reason) {
	w.t.Helper()
	w.update(func(ctx context.Context, tx *store.Tx) error {
		pull, _, err := tx.GetPull(ctx, w.repo.ID, number)
		if err != nil {
			return err
		}
		if box, _, err = tx.GetBox(ctx, pull.ID); err != nil {
			return err
		}
		_, trouble, err = tx.GetMergeTrouble(ctx, pull.ID)
		return err
	})
	return box, trouble
}

func TestBoxesAreReadInEveryPass(t *testing.T) {
	w := newWorld(t, 2)
	for _, beside := range []string{"rules main, base..aaa, base..aaa, boxes agent:freeze 10 20, obeyed by tip", "same rules main, boxes agent:freeze 10 20"} {
		if asked, _ := w.pass(); asked != beside {
			t.Errorf("asked for %s", asked)
		}
	}
	if box, _ := w.stored(20); box.Status != "CLEAN" || !slices.Equal(box.Rules.Checks, []string{"unit"}) {
		t.Errorf("stored %+v", box)
	}
	w.r.Settings.Review.Merge.Auto = false
	if asked, _ := w.pass(); asked != "" {
		t.Errorf("auto_merge is off, and GitHub is asked for %s", asked)
	}
}

// What a head changes is read from its commits, once per head and merge base. Which of it agents
// obey is read once per head, merge base and tip of the base.
func TestWhatAHeadChanges(t *testing.T) {
	w := newWorld(t, 1)
	for _, want := range []string{"rules main, base..aaa, boxes agent:freeze 10, obeyed by tip", "same rules main, boxes agent:freeze 10"} {
		if asked, _ := w.pass(); asked != want {
			t.Errorf("asked for %s", asked)
		}
		if box, _ := w.stored(10); !slices.Equal(box.Paths, []string{"a.go", "b.png", "now.go", "was.go"}) {
			t.Errorf("stored %+v", box)
		}
	}
	for _, x := range []struct{ head, base, tip, asked, obeyed string }{
		{"aaa", "base", "tip2", "same rules main, boxes agent:freeze 10, obeyed by tip2", "a.go"},
		{"aaa", "base", "tip2", "same rules main, boxes agent:freeze 10", "a.go"},
		{"aaa", "base2-base3", "tip2", "same rules main, base2-base3..aaa, boxes agent:freeze 10, obeyed by tip2", "a.go"},
		{"aaa", "base2-base3", "tip3", "same rules main, boxes agent:freeze 10, obeyed by tip3", ""},
		{"aaa", "base2-base3", "gone", "same rules main, boxes agent:freeze 10", ""}, // the remote has no such commit
		{"aaa", "", "tip3", "same rules main, boxes agent:freeze 10", ""},
		{"ccc", "base", "tip3", "same rules main, boxes agent:freeze 10", ""}, // the mirror does not have it yet
	} {
		w.update(func(ctx context.Context, tx *store.Tx) error {
			pull, _, err := tx.GetPull(ctx, w.repo.ID, 10)
			if err != nil {
				return err
			}
			pull.HeadOID, pull.MergeBase = x.head, x.base
			_, err = tx.PutPull(ctx, pull)
			return err
		})
		w.hub.boxes[10] = merging.Box{State: work.PullOpen, Head: x.head, Base: "main", BaseTip: x.tip, Mergeable: "MERGEABLE", Status: "CLEAN"}
		asked, _ := w.pass()
		box, _ := w.stored(10)
		if known := x.head == "aaa" && x.base != "" && x.tip != "gone"; asked != x.asked || strings.Join(box.Obeyed, " ") != x.obeyed || known != (len(box.Paths) > 0) {
			t.Errorf("head %s, merge base %s: asked for %s, stored %+v", x.head, x.base, asked, box)
		}
	}
}

func TestWhatIsNotToBeReadIsNotStored(t *testing.T) {
	for _, err := range []error{errors.New("no merge box"), &transport.Error{Status: 403, Message: "Resource not accessible by personal access token"}} {
		w := newWorld(t, 2)
		w.hub.bad[10] = err
		_, b := w.pass()
		if len(b.trouble) != 1 || !strings.Contains(b.trouble[0], "#10") {
			t.Errorf("%v: the trouble is %q", err, b.trouble)
		}
		if box, _ := w.stored(10); box.Read() {
			t.Errorf("stored %+v", box)
		}
		if box, _ := w.stored(20); !box.Read() {
			t.Errorf("%v keeps others from being read", err)
		}
	}
}

// A query that fails is split in halves until the pull request that spoils it is alone. If GitHub
// refuses the query itself, no half is sent, and the pass fails.
func TestAQueryForBoxesThatFailsIsHalved(t *testing.T) {
	for _, c := range []struct {
		err    error
		asked  string
		others bool
	}{
		{&transport.Error{Status: 502}, "boxes agent:freeze 10 20 30 40, boxes agent:freeze 10 20, boxes agent:freeze 30 40, boxes agent:freeze 30, boxes agent:freeze 40, obeyed by tip", true},
		{&transport.Error{Status: 400, Type: "undefinedField", Message: "Field 'isInMergeQueue' doesn't exist"}, "boxes agent:freeze 10 20 30 40", false},
	} {
		w := newWorld(t, 4)
		w.hub.fatal[30] = c.err
		asked, _, err := w.try()
		if (err == nil) != c.others {
			t.Errorf("%v: the pass ends with %v", c.err, err)
		}
		if asked != "rules main, base..aaa, base..aaa, base..aaa, base..aaa, "+c.asked {
			t.Errorf("%v: asked for %s", c.err, asked)
		}
		for _, n := range []int{10, 20, 30, 40} {
			if box, _ := w.stored(n); box.Read() != (c.others && n != 30) {
				t.Errorf("%v: of %d stored %+v", c.err, n, box)
			}
		}
	}
}

// One query has so many at most, and a pass reads all.
func TestMoreBoxesThanOneQueryHas(t *testing.T) {
	w := newWorld(t, github.MaxBoxes+5)
	asked, _ := w.pass()
	if n := strings.Count(asked, "boxes agent:freeze"); n != 2 {
		t.Errorf("%d queries: %s", n, asked)
	}
	for n := range github.MaxBoxes + 5 {
		if box, _ := w.stored(10 + 10*n); !box.Read() {
			t.Errorf("the box of #%d was not read", 10+10*n)
		}
	}
}

// takeOut stores the state of the dequeue action.
func (w *world) takeOut(ctx context.Context, tx *store.Tx, state work.ActionState) error {
	a, err := tx.PlanMerging(ctx, work.Action{
		RepoID: w.repo.ID, Kind: work.ActionDequeue, Need: work.NeedRequired, State: work.ActionPlanned, Number: 10, Head: "aaa", Token: work.DequeueToken(w.repo.Key(), 10, "aaa", 0),
	})
	if err == nil && state != work.ActionPlanned {
		err = tx.MarkSent(ctx, a.ID, noon)
	}
	if err == nil && state == work.ActionApplied {
		err = tx.MarkApplied(ctx, a.ID, "", "", noon)
	}
	return err
}

// A pull request that falls out of a merge queue is not queued again, and its author learns what is
// red.
func TestFallenOutOfTheQueue(t *testing.T) {
	for name, c := range map[string]struct {
		ours  bool
		out   work.ActionState // of our dequeue; "" if there is none
		group string
		red   []merging.Check
		head  string
		event string
		names []string
		why   work.ReasonKind
	}{
		"checks failed":         {true, "", "ggg", []merging.Check{{Name: "unit", State: merging.Red}, {Name: "lint", State: merging.Green}}, "aaa", "queue unit", []string{"unit"}, work.WhyMergeQueueOut},
		"GitHub says its group": {true, "", "out ggg", []merging.Check{{Name: "unit", State: merging.Red}}, "aaa", "queue unit", []string{"unit"}, work.WhyMergeQueueOut},
		"somebody took it out":  {true, "", "ggg", []merging.Check{{Name: "unit", State: merging.Green}}, "aaa", "", nil, work.WhyMergeQueueOut},
		"it had no group yet":   {true, "", "", nil, "aaa", "", nil, work.WhyMergeQueueOut},
		"we had not queued it":  {false, "", "ggg", nil, "aaa", "", nil, ""},
		"it was pushed to":      {true, "", "ggg", nil, "bbb", "", nil, ""},
		"it is in there still":  {true, "", "ggg", nil, "in", "", nil, ""},
		"and its group is gone": {true, "", "ggg", nil, "gone", "", nil, ""},
		"we took it out":        {true, work.ActionApplied, "ggg", nil, "aaa", "", nil, ""},
		"and nobody noted it":   {true, work.ActionSent, "ggg", nil, "aaa", "", nil, ""},
		"we only meant to":      {true, work.ActionPlanned, "ggg", nil, "aaa", "", nil, work.WhyMergeQueueOut},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			box := w.hub.boxes[10]
			group, shown := strings.CutPrefix(c.group, "out ") // built and red between two passes
			box.Queue = merging.Queue{Required: true, In: true, Group: group}
			if shown {
				box.Queue.Group = "built before"
			}
			w.hub.boxes[10], w.hub.group = box, c.red
			if c.ours {
				w.queue()
			}
			if c.out != "" {
				w.update(func(ctx context.Context, tx *store.Tx) error { return w.takeOut(ctx, tx, c.out) })
			}
			w.pass()
			switch c.head {
			case "in":
			case "gone":
				box.Queue.Group = ""
			default:
				box.Queue, box.Head = merging.Queue{Required: true}, c.head
				if shown {
					box.Queue.Out = &merging.QueueExit{Group: group, Reason: "failed checks"}
				}
			}
			w.hub.boxes[10] = box
			_, b := w.pass()
			event := ""
			for _, e := range b.events {
				event += e.event.Body
				if e.event.State != group || e.event.Source != "aaa" || e.event.Kind != work.EventCheck {
					t.Errorf("%+v", e.event)
				}
			}
			now, why := w.stored(10)
			if event != c.event || why.Kind != c.why || !slices.Equal(why.Names, c.names) {
				t.Errorf("event %q, trouble %+v", event, why)
			}
			if c.head == "gone" && now.Queue.Group != "ggg" {
				t.Error("its group is forgotten")
			}
		})
	}
}

// queue stores that we put the pull request into its queue.
func (w *world) queue() {
	w.t.Helper()
	w.update(func(ctx context.Context, tx *store.Tx) error {
		a, err := tx.PlanMerging(ctx, work.Action{
			RepoID: w.repo.ID, Kind: work.ActionEnqueue, Need: work.NeedRequired, State: work.ActionPlanned, Number: 10, Head: "aaa", Token: work.EnqueueToken(w.repo.Key(), 10, "aaa"),
		})
		if err != nil {
			return err
		}
		return tx.MarkApplied(ctx, a.ID, "", "", noon)
	})
}

// Between leaving the queue and being merged, GitHub shows a pull request as open and in no queue:
// only one that stays so has fallen out, and one that is on the base has not.
func TestOutOfTheQueueForAMoment(t *testing.T) {
	for name, c := range map[string]struct {
		back   bool   // it is in the queue again
		landed string // commit on the base
		later  time.Duration
		why    work.ReasonKind
	}{
		"at once":           {},
		"later":             {later: time.Hour, why: work.WhyMergeQueueOut},
		"back meanwhile":    {later: time.Hour, back: true},
		"it is on the base": {later: time.Hour, landed: "ccc"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.env.Config.Runtime.SettleAfter, w.landed = time.Minute, c.landed
			w.queue()
			box := w.hub.boxes[10]
			show := func(in bool) {
				t.Helper()
				box.Queue = merging.Queue{Required: true, In: in, Group: "ggg"}
				w.hub.boxes[10] = box
				w.pass()
			}
			show(true)
			show(false)
			w.hub.passed = c.later
			if c.back {
				show(true)
			}
			show(false)
			if now, why := w.stored(10); why.Kind != c.why || now.Queue.Left.IsZero() {
				t.Errorf("trouble %+v, queue %+v", why, now.Queue)
			}
		})
	}
}
