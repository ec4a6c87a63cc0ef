//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// scenario is a piece of the tool's life, from what people do to quiet.
type scenario struct {
	name   string
	setup  func(*world) error // what people did before; passes are made until quiet
	input  func(*world) error // what they do now
	during func(*world, agentRun, int) error
	// meanwhile is what people do once the agent has answered, right before the
	// next request.
	meanwhile func(*world) error
	idle      bool // the agent answers feedback without changing anything
	asks      bool // it asks a question before it starts, unless people mended what it asks about
	resolves  bool // it has the threads resolved that it replies to
	flaky     bool // it says that a test is flaky
	deadly    bool // its pass is killed while it works, each time
	beside    bool // two turns run at once, so which place has which number differs from run to run
	parked    bool // what it did at first has had no effect when the scenario begins
	large     bool // its first change is too large for one run of a reviewer
	byTool    bool // it answers by the tool, see tool_test.go
	setsUp    bool // the repository has a set-up, see setup_test.go

	reviews func(request) verdict // what the reviewers say; nil: nobody reviews
	policy  string                // of reviews and merges, as the config says it; empty: one fix
	hears   func(request)         // is told what an agent is asked
	merges  bool                  // what they approve is merged by us
	between func(*world) error    // what GitHub does after each pass that ended by itself
	recalls func(*world) error    // what holds in the end where the database is lost, and GitHub does not tell all that it knew
	sampled bool                  // CI kills it at some places only, script/crash at all of them
	own     place                 // what it is about: CI kills it after each of these, too
	plans   bool                  // a roadmap
	fleet   bool                  // three machines have one database, on a server
	budget  int                   // turns a day; 0: as many as there are
	storm   bool                  // five have it, and more repositories; see storm_test.go
	control bool                  // controls play it, and nothing kills it: how it ends depends on when a pass sees what people did
}

// verdict is what a reviewer of a scenario says about a head.
type verdict struct {
	finds   string // what is wrong; empty: it approves
	callsIn string // another reviewer
}

func approves(request) verdict { return verdict{} }

// asksOnce finds something before the first fix.
func asksOnce(r request) verdict {
	if r.Context.Review.Cycle == 0 {
		return verdict{finds: "Say why."}
	}
	return verdict{}
}

// asksAlways finds something else each time.
func asksAlways(r request) verdict {
	return verdict{finds: fmt.Sprintf("Say why, and this time more clearly than in cycle %d.", r.Context.Review.Cycle)}
}

// callsSamIn approves; quinn has sam look too.
func callsSamIn(r request) verdict {
	if r.Context.Review.Reviewer == "quinn" {
		return verdict{callsIn: "sam"}
	}
	return verdict{}
}

// scenarios are those that are killed everywhere.
func scenarios() []scenario {
	start := issue("Crash on start", "agent:bugfix", "")
	return append(merges(), []scenario{
		{name: "bugfix", input: issue("Crash on start", "agent:bugfix", "It happens on Mondays.")},
		{name: "design", input: issue("New search", "agent:design", ""), sampled: true},
		{name: "promotion", setup: issue("New search", "agent:design", ""), input: merge, sampled: true},
		{name: "small job", input: issue("Fix typo", "agent:small-job", ""), sampled: true},
		{name: "two items", input: steps(start, issue("Fix typo", "agent:small-job", "")), beside: true, sampled: true},
		{name: "question", input: start, asks: true, sampled: true},
		{name: "question answered", setup: start, input: commentOn(1), asks: true, sampled: true},
		{name: "follow-up and resume", input: start, asks: true, during: personComments, sampled: true},
		{name: "comment before opening", input: start, during: personComments, sampled: true},
		{name: "comment on the issue", setup: start, input: commentOn(1)},
		{name: "feedback", setup: start, input: twoReviewsAndAComment},
		{name: "feedback without changes", setup: start, input: twoReviewsAndAComment, idle: true, sampled: true},
		{name: "feedback with resolving", setup: start, input: twoReviewsAndAComment, resolves: true, sampled: true},
		{name: "feedback with a clock ahead", setup: steps(clockAhead, start), input: twoReviewsAndAComment, sampled: true},
		{name: "edited comments", setup: steps(start, quiet, twoReviewsAndAComment), input: edits, sampled: true},
		{name: "push during the turn", setup: start, input: twoReviewsAndAComment, during: onFeedback(personPushes), sampled: true},
		{name: "taken back after the answer", setup: start, input: twoReviewsAndAComment, meanwhile: takeBack, sampled: true},
		{name: "merged during the turn", setup: start, input: twoReviewsAndAComment, during: onFeedback(merge), sampled: true},
		{name: "takeover", setup: start, input: takeOver, sampled: true},
		{name: "command", setup: steps(cannotPush, start), input: commandRetry, parked: true},
		{name: "command on a question", setup: start, input: commandRetryOfAQuestion, asks: true, sampled: true},
		{name: "command cancel", setup: start, input: commandCancel, sampled: true},
		{name: "checks turn", setup: start, input: redCheck, sampled: true},
		{name: "flaky test", setup: start, input: redCheck, idle: true, flaky: true, sampled: true},
		{name: "conflict turn", setup: start, input: conflict, sampled: true},
		{name: "review approves", input: start, reviews: approves, sampled: true},
		{name: "request, fix, approve", input: start, reviews: asksOnce, sampled: true},
		{name: "escalation", input: start, reviews: callsSamIn, sampled: true},
		{name: "cap", input: start, reviews: asksAlways, sampled: true},
		{name: "review in parts", input: start, reviews: asksForPart2, policy: "max_fix_cycles = 0", large: true, sampled: true, own: atAgent},
		{name: "answer by the tool", setup: start, input: commentOn(pullNumber), byTool: true, sampled: true, own: atAnswer},
		{name: "set-up", input: steps(needsSetup, start), reviews: approves, setsUp: true, sampled: true, own: atSetup},
		{name: "push during a review", input: start, reviews: approves, during: onReview(personPushes), control: true},
		{name: "adoption", setup: threePulls, input: steps(commentOn(6), loseDatabase), sampled: true},
		{name: "unfold", setup: steps(issue("Faster reads", "agent:roadmap", "")), input: merge, between: minutesPass, plans: true, sampled: true},
		{name: "revise", setup: steps(issue("Faster reads", "agent:roadmap", ""), quiet, merge), input: revises, between: minutesPass, plans: true, sampled: true},
		{name: "label on a fleet", fleet: true, input: issue("Crash on start", "agent:bugfix", "It happens on Mondays.")},
		{name: "comments on a fleet", fleet: true, setup: start, input: twoReviewsAndAComment},
		{name: "review on a fleet", fleet: true, input: start, reviews: asksOnce},
		{name: "merge on a fleet", fleet: true, input: start, reviews: approves, merges: true},
		{name: "killed while the agent runs", input: steps(start, killedPasses(work.MaxAttempts)), during: killPass, deadly: true},
	}...)
}

func steps(all ...func(*world) error) func(*world) error {
	return func(w *world) error {
		for _, do := range all {
			if err := do(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// killPass kills the pass whose agent works.
func killPass(w *world, _ agentRun, _ int) error {
	w.kill()
	return errGone
}

// killedPasses makes passes that are killed while their agent works.
func killedPasses(n int) func(*world) error {
	return func(w *world) error {
		for range n {
			if ended, err := w.pass(); ended || err != nil {
				return errors.Join(errors.New("a pass that was to be killed ended"), err)
			}
		}
		return nil
	}
}

// clockAhead sets this machine's clock a quarter of an hour ahead of GitHub's.
func clockAhead(w *world) error {
	w.later.Add(-15 * 60)
	return nil
}

func quiet(w *world) error {
	_, err := w.settle()
	w.later.Add(10)
	return err
}

// issue opens an issue with a label, and a comment on it.
func issue(title, label, comment string) func(*world) error {
	return func(w *world) error {
		n, err := w.repo.OpenIssue("ann", title, "Please.", label)
		if err == nil && comment != "" {
			_, err = w.repo.Comment(n, "bob", comment)
		}
		return err
	}
}

// redCheck has a check of the pull request fail.
func redCheck(w *world) error {
	p, _ := w.repo.Pull(pullNumber)
	_, err := w.repo.SetCheck(p.Head, "unit", "completed", "failure")
	return err
}

// conflict changes on the base branch what the pull request changes.
func conflict(w *world) error {
	_, err := w.repo.PushCommit("main", "ann", map[string]string{madeFile: "Somebody else's.\n"}, "Make it here")
	return err
}

func commentOn(number int) func(*world) error {
	return func(w *world) error {
		_, err := w.repo.Comment(number, "bob", "How is it going?")
		return err
	}
}

// the pull request of issue 1, and the file that its start made.
const (
	pullNumber = 2
	madeFile   = "work/1.txt"
)

func twoReviewsAndAComment(w *world) error {
	if _, err := w.repo.Review(pullNumber, "ann", "COMMENT", "", githubsim.LineComment{Path: madeFile, Line: 1, Body: "Rename this."}); err != nil {
		return err
	}
	if _, err := w.repo.ReviewComment(pullNumber, "bob", madeFile, 1, "And document it."); err != nil {
		return err
	}
	_, err := w.repo.Comment(pullNumber, "bob", "Also add a test.")
	return err
}

// edits makes new versions of a review comment and of a general one.
func edits(w *world) error {
	for _, c := range w.repo.ReviewComments(pullNumber) {
		if c.Author == "ann" {
			if err := w.repo.EditReviewComment(c.ID, "ann", "Rename this to foo."); err != nil {
				return err
			}
		}
	}
	for _, c := range w.repo.Comments(pullNumber) {
		if c.Author == "bob" {
			return w.repo.EditComment(c.ID, "bob", "Also add two tests.")
		}
	}
	return nil
}

// onFeedback has people do something once, while the agent works on feedback.
func onFeedback(do func(*world) error) func(*world, agentRun, int) error {
	return func(w *world, run agentRun, _ int) (err error) {
		if !strings.HasSuffix(run.kind, "_start") {
			w.people.Do(func() { err = do(w) })
		}
		return err
	}
}

// onReview has people do something once, while a reviewer looks.
func onReview(do func(*world) error) func(*world, agentRun, int) error {
	return func(w *world, run agentRun, _ int) (err error) {
		if run.kind == "review" {
			w.people.Do(func() { err = do(w) })
		}
		return err
	}
}

// interfere has people do what they do meanwhile.
func (w *world) interfere() {
	if w.scenario.meanwhile == nil || w.before == 0 || w.rig.counts().runs == w.before {
		return
	}
	w.people.Do(func() {
		if err := w.scenario.meanwhile(w); err != nil {
			w.rig.fault(fmt.Errorf("what people do meanwhile: %w", err))
		}
	})
}

// personPushes is a push to the pull request's branch.
func personPushes(w *world) error {
	p, _ := w.repo.Pull(pullNumber)
	_, err := w.repo.PushCommit(p.Head, "ann", map[string]string{"src/app.txt": "one\ntwo\nthree\nfour\n"}, "Add four")
	return err
}

func merge(w *world) error {
	_, err := w.repo.Merge(pullNumber, "ann", "merge")
	return err
}

// takeBack resolves the thread of one review comment and deletes another.
func takeBack(w *world) error {
	for _, c := range w.repo.ReviewComments(pullNumber) {
		do := w.repo.Resolve
		if c.Author == "bob" {
			do = w.repo.DeleteReviewComment
		}
		if err := do(c.ID, c.Author); err != nil {
			return err
		}
	}
	return nil
}

// personComments is a comment on the issue while the agent works for the first
// time.
func personComments(w *world, _ agentRun, _ int) (err error) {
	w.people.Do(func() { _, err = w.repo.Comment(1, "bob", "Like this.") })
	return err
}
