package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Repairs by the agent before a person must act.
const (
	testRepairs     = 3 // if the required tests fail
	testFileRepairs = 1 // if a bugfix has no test
)

// flaw is why a change may not be pushed.
type flaw struct {
	prompts.Unproven
	repairs int  // repairs allowed
	there   bool // the pull request's head has faults in its document, too
}

// runUntilTestsPass runs the agent, commits its files, and has it repair them until no flaw is left
// or its repairs are used up. It continues a session, unless that is empty.
func (p *runner) runUntilTestsPass(ctx context.Context, l *env.Lease, ag agent.Agent, session string) (prompts.Answer, error) {
	var req env.Request
	if err := json.Unmarshal(l.Turn.Request, &req); err != nil {
		return prompts.Answer{}, fmt.Errorf("decode the stored prompt: %w", err)
	}
	if len(req.Parts) > 0 {
		return p.reviewParts(ctx, l, ag, req)
	}
	talk := &talk{p: p, l: l, agent: ag, asked: req, session: session}
	tried := map[int]int{} // repairs used, by repairs allowed: one count per kind of flaw
	for {
		a, err := p.answer(ctx, l, talk)
		if err == nil && l.Turn.Kind.Start() && a.BlockedReason != "" {
			err = agentBlocked(a)
		}
		if err == nil {
			err = p.commit(ctx, l, a)
		}
		if err != nil {
			return a, err
		}
		f, err := p.findFlaw(ctx, l, ag)
		if err != nil || f == nil {
			return a, err
		}
		if a.BlockedReason != "" { // the question is asked; the failing change is not pushed
			l.Turn.Commit = ""
			return a, nil
		}
		if tried[f.repairs] >= f.repairs {
			return a, &work.BlockedError{Reason: f.why()}
		}
		tried[f.repairs]++
		if err := p.beginRepair(ctx, l, talk, f); err != nil {
			return a, err
		}
	}
}

// why returns why a turn stops whose agent could not repair a flaw. Test output, like agent output, stays on this
// machine: it may contain anything the tests read. A document's faults are people's to mend, too.
func (f *flaw) why() work.Reason {
	switch {
	case f.Document:
		return documentFaults(f.Failure, strings.Split(f.Output, "\n"), f.there)
	case f.Output == "":
		return work.Reason{Kind: work.WhyTestsFail, Text: f.Failure, Count: f.repairs}
	}
	return work.Reason{
		Kind: work.WhyTestsFail, Text: f.Failure, Count: f.repairs,
		Advice: "What the tests printed is in the log of the machine that runs gh mergexo",
	}
}

// findFlaw returns why the new commit may not be pushed; nil: it may. A design document has no
// tests.
func (p *runner) findFlaw(ctx context.Context, l *env.Lease, ag agent.Agent) (*flaw, error) {
	r := l.Repo.Settings
	if l.Turn.Commit == "" || l.Turn.Kind.Document() {
		return nil, nil //nolint:nilnil // no flaw is an answer
	}
	if f, err := p.documentFlaw(ctx, l); f != nil || err != nil {
		return f, err
	}
	if r.TestFiles != nil && l.Turn.Kind == work.KindBugfixStart && !slices.ContainsFunc(l.Files, r.TestFiles.MatchString) {
		return &flaw{Unproven: prompts.Unproven{
			Failure: "a bugfix comes with a test, and no changed file matches " + r.TestFiles.String(), TestFiles: r.TestFiles.String(),
		}, repairs: testFileRepairs}, nil
	}
	if len(r.RequiredTests) == 0 {
		return nil, nil //nolint:nilnil // as above
	}
	res, err := p.runTests(ctx, l, ag, l.Turn.Commit)
	if err != nil {
		return nil, err
	}
	ran := p.Secrets.Redact(work.CommandLine(r.RequiredTests))
	if res.Failure == "" {
		l.Turn.Tested = ran
		return nil, nil //nolint:nilnil // as above
	}
	failure := fmt.Sprintf("the required tests fail: `%s` %s", ran, res.Failure)
	return &flaw{Unproven: prompts.Unproven{Failure: failure, Output: res.Output}, repairs: testRepairs}, nil
}

// testable checks before a turn is paid that its tests can be started.
func (p *runner) testable(ctx context.Context, l *env.Lease, ag agent.Agent) error {
	argv := l.Repo.Settings.RequiredTests
	if len(argv) == 0 || l.Mode() == work.ModeRead {
		return nil
	}
	return ag.CanTest(ctx, p.testRequest(l), argv)
}

func (p *runner) testRequest(l *env.Lease) agent.Request {
	return agent.Request{
		Turn: l.Turn.Key, Mark: p.Mark(l.Turn), Item: l.Item.Number, Kind: l.Turn.Kind, Mode: l.Turn.Kind.Mode(), Dir: l.Checkout.Dir, Wall: p.Config.Runtime.TestTimeout, Active: p.active(l),
	}
}

// runTests runs the required tests on a commit's files only, without other files that the agent
// left.
func (p *runner) runTests(ctx context.Context, l *env.Lease, ag agent.Agent, commit string) (agent.Tested, error) {
	r := l.Repo.Settings
	prepared, err := p.checkOut(ctx, l, ag, commit)
	if err != nil {
		return agent.Tested{}, err
	}
	p.Changed(l, "testing", work.CommandLine(r.RequiredTests))
	res, err := ag.Test(ctx, p.testRequest(l), r.RequiredTests)
	if err == nil && res.Failure != "" {
		if prepared != nil && prepared.Failure != "" {
			res.Failure += " after a set-up that failed"
			res.Output = fmt.Sprintf("Before the tests, the set-up %s:\n%s\n\nThe tests:\n%s", prepared.Failure, prepared.Output, res.Output)
		}
		p.Changed(l, "tests failed", res.Failure)
		p.Log.WarnContext(ctx, "the required tests fail", p.TurnAttrs(l, "failure", res.Failure, "output", res.Output)...)
	}
	return res, err
}

// checkOut restores the checkout to a commit of the turn and sets it up.
func (p *runner) checkOut(ctx context.Context, l *env.Lease, ag agent.Agent, commit string) (*prompts.Setup, error) {
	modules, err := submodulesOf(ctx, l, commit)
	if err != nil {
		return nil, err
	}
	at := git.Restore{
		Dir: l.Checkout.Dir, Index: l.Checkout.Index, Commit: commit, Branch: l.Turn.Branch, Base: l.Turn.Base, Submodules: modules,
	}
	if err := l.Repo.Git().Restore(ctx, at); err != nil {
		return nil, fmt.Errorf("restore the checkout: %w", err)
	}
	return p.setUp(ctx, l, ag, at)
}

// beginRepair prepares the repair prompt and restores the checkout to the commit, without files
// that the tests left.
func (p *runner) beginRepair(ctx context.Context, l *env.Lease, talk *talk, f *flaw) error {
	if _, err := p.checkOut(ctx, l, talk.agent, l.Turn.Commit); err != nil {
		return err
	}
	p.Changed(l, "repairing", f.Failure)
	var err error
	if talk.mend, err = p.Prompts.RepairTests(l.Turn.Kind, p.briefs.agentOf(l).Adapter, l.Turn.Key, f.Unproven); err != nil {
		return fmt.Errorf("render the prompt: %w", err)
	}
	return nil
}

// testReplayed checks a roadmap and runs the required tests on a replayed commit: its change and somebody's push may
// each pass alone and fail together.
func (p *runner) testReplayed(ctx context.Context, l *env.Lease, commit string) error {
	if err := p.looks.replayedSound(ctx, l, commit); err != nil {
		return err
	}
	if len(l.Repo.Settings.RequiredTests) == 0 || l.Turn.Kind.Document() {
		return nil
	}
	ag, err := p.Agents.Agent(ctx, l.Repo.Row, p.briefs.agentOf(l).Name)
	if err != nil {
		return err
	}
	if l.Checkout, err = p.Dirs.TakeCheckout(l.Repo.Row, l.Slot.K, func(dir string) bool { return p.restorer.occupied(ctx, dir) }); err != nil {
		return err
	}
	res, err := p.runTests(ctx, l, ag, commit)
	if err = errors.Join(err, l.Checkout.Unmark()); err != nil {
		return err
	}
	if res.Failure != "" {
		return &work.SupersededError{Reason: "with what somebody pushed the required tests fail: they " + res.Failure}
	}
	return nil
}
