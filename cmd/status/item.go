package status

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Item is one work item. Its line in status, the text below that, the head of show, the report and
// JSON show these fields.
type Item struct {
	Repo        string          `json:"repo"`          // owner/name, with the host in front where two hosts are configured
	Number      int             `json:"number"`        // of the issue, or of a pull request that is only reviewed
	Title       string          `json:"title"`         // the issue's title
	URL         string          `json:"url"`           // the issue's address
	Flow        work.Flow       `json:"flow"`          // `design`, `implementation`, `bugfix`, `small_job`, `roadmap`; `review` of somebody else's pull request
	State       string          `json:"state"`         // the word that `status` shows: [using.md](../using.md#states)
	Stopped     bool            `json:"stopped"`       // whether a person has to act
	Running     bool            `json:"running"`       // whether a pass works on it now
	Work        *Running        `json:"work"`          // what that pass is doing; null: no pass works on it
	Since       terminal.Time   `json:"since"`         // since when it is in that state
	WaitingFor  string          `json:"waitingFor"`    // what it waits for, for people; empty: nothing
	ReasonCode  work.ReasonKind `json:"reasonCode"`    // of `waitingFor`, for programs: one of [reasons](reasons.md)
	WaitsSince  terminal.Time   `json:"waitingSince"`  // since when it waits for that; null: a stop, or no pass has seen it yet
	ToldAt      terminal.Time   `json:"toldAt"`        // when it had lasted for too long: a comment on GitHub (unless that is refused) and notifications tell it; null: it has not
	NextStep    string          `json:"nextStep"`      // what happens next, or what a person must do
	Priority    int             `json:"priority"`      // 1 (late) to 5 (early); 3 is usual
	Branch      string          `json:"branch"`        // the branch of its pull request; empty: none yet
	Document    string          `json:"document"`      // the path of its design document; empty: none
	PullRequest *PullRequest    `json:"pullRequest"`   // null: there is none yet
	Pending     int             `json:"pendingEvents"` // comments and other events that wait for a turn
	Spent       Spent           `json:"spent"`         // spending of its budgets
	Stop        *Stop           `json:"stop"`          // null: it is not blocked
	Review      *Review         `json:"review"`        // the reviews of its pull request; null: nothing is reviewed
	SetupFailed *SetupFailed    `json:"setupFailed"`   // why the [set-up](../checks.md#set-up) failed for its last turn; null: it did not, or there is none

	agent      config.Agent // of its next turn, if it waits for a pass alone; empty name: it does not
	open       bool
	urgency    int       // orders items for people
	now, local time.Time // by GitHub's clock, and by this machine's
}

// PullRequest is an item's pull request.
type PullRequest struct {
	Number    int            `json:"number"`    // of the issue or pull request
	URL       string         `json:"url"`       // its address on GitHub; empty: it has none
	State     work.PullState `json:"state"`     // `open`, `merged` or `closed`
	Head      string         `json:"head"`      // the commit at the end of the branch
	Mergeable string         `json:"mergeable"` // whether GitHub can merge it, in GitHub's word; empty: not known
	Checks    string         `json:"checks"`    // state of all its checks, in GitHub's word; empty: no checks, or not known
	Error     string         `json:"error"`     // why it could not be read; empty: it was
	Failures  int            `json:"failures"`  // number of failures in a row
	NotBefore terminal.Time  `json:"notBefore"` // not tried before this time; null: the next pass may try
}

// Stop is why an item is blocked, as a comment on GitHub tells it.
type Stop struct {
	Reason   string           `json:"reason"`     // the reason, as on GitHub
	Code     work.ReasonKind  `json:"reasonCode"` // of `reason`, for programs: one of [reasons](reasons.md)
	Since    terminal.Time    `json:"since"`      // since when
	Attempts int              `json:"attempts"`   // how often it stopped for this reason
	URL      string           `json:"url"`        // URL of the comment that says so
	State    work.ActionState `json:"state"`      // the comment's: `planned`, `sent`, `applied`; `void` when a person deleted it

	trouble string // why the comment could not be made
}

// SetupFailed is why a repository's set-up failed for an item. Its turns run without what it makes.
type SetupFailed struct {
	Command  string        `json:"command"`  // the set-up's command
	Failure  string        `json:"failure"`  // how it failed, with its exit code
	At       terminal.Time `json:"at"`       // when it failed last
	NextStep string        `json:"nextStep"` // the command that shows its output
}

// says tells it in one line, without when.
func (f SetupFailed) says() string { return "the set-up failed: " + f.Command + " " + f.Failure }

// Spent is the usage and the limits of some budgets; a limit of 0 means none.
type Spent struct {
	Turns     int `json:"turns"`             // number of turns
	MaxTurns  int `json:"maxTurns"`          // limit of turns; 0: no limit
	Rounds    int `json:"feedbackRounds"`    // turns that answered people
	MaxRounds int `json:"maxFeedbackRounds"` // limit of feedbackRounds; 0: no limit
	Cost
	MaxCostInUSD float64 `json:"maxCostUSD"` // limit of costUSD; 0: no limit

	says string
}

// ItemFacts are what the database holds about one work item.
type ItemFacts struct {
	known.Item
	plan.Outlook
	Repo    work.Repo
	Called  string        // the repository's name, with its host if that is ambiguous
	Live    bool          // a live pass works on it
	Worked  *Running      // what that pass does; nil: none works on it
	Halt    *folder.Halt  // `pause --all` is in force; nil: it is not
	Said    work.Action   // the comment on GitHub with the reason why it is blocked
	Place   explain.Place // for texts about the item on this machine
	Budgets work.Budgets
	Now     time.Time    // by GitHub's clock
	Local   time.Time    // by this machine's clock
	Machine string       // of several, the one that has its unfinished turn; empty: none
	Agent   config.Agent // of its next turn; empty name: not known

	broken error // a panic of the plan about it
}

func (f ItemFacts) ref() string {
	return fmt.Sprintf("%s#%d", cmp.Or(f.Called, f.Repo.Name.FullName()), f.Number)
}

// shown is item, or what is left of it after a panic.
func (f ItemFacts) shown() (i Item) {
	err := cmp.Or(f.broken, work.Contain("print "+f.ref(), func() error { i = f.item(); return nil }))
	broken, ok := errors.AsType[*work.PanicError](err)
	if !ok {
		return i
	}
	said := explain.Reason(broken.Reason(), f.Place)
	return Item{
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), Number: f.Number, Title: f.Title, URL: f.URL, Flow: f.Flow, State: string(f.State), Stopped: true,
		Since: terminal.Stamp(f.Since), WaitingFor: said.Here(), ReasonCode: work.WhyPanic, NextStep: said.Next(), open: f.State.Open(), now: f.Now, local: f.Local,
	}
}

// item returns what people and programs see of the facts.
func (f ItemFacts) item() Item {
	s := plan.StandingOf(f.Item, f.Outlook, plan.Around{Now: f.Now, Repo: f.Repo, Called: f.Called, Halted: f.Halt != nil && !f.Halt.Moved, Live: f.Live})
	typed := f.Place
	typed.Item = f.ref()
	i := Item{
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), Number: f.Number, Title: f.Title, URL: f.URL, Flow: f.Flow,
		State: s.State, Stopped: f.State.NeedsPerson() || f.Lead != nil && s.Blocked, Running: f.Live, Work: f.Worked, Since: terminal.Stamp(s.Since),
		WaitingFor: s.Says(f.Place, true), ReasonCode: s.Why.Kind,
		WaitsSince: terminal.Stamp(s.Wait.Since), ToldAt: terminal.Stamp(s.Wait.ToldAt), NextStep: s.Next(typed),
		Priority: f.Priority, Branch: f.Branch, Document: f.Document, Pending: len(f.Unanswered()), Spent: f.spent(), Review: f.review(s.Why.Kind),
		open: f.State.Open() || f.Lead != nil, urgency: f.urgency(), now: f.Now, local: f.Local,
	}
	switch s.Why.Kind { //nolint:exhaustive // no other waits for a pass alone
	case work.WhyToAnswer, work.WhyReviewDue, work.WhyReviewFixDue:
		if f.Begins != nil {
			i.agent = f.Agent
		}
	case work.WhyFreeSlot:
		i.agent = f.Agent
	}
	if i.WaitingFor != "" && f.Machine != "" {
		i.WaitingFor += "; its turn is machine " + f.Machine + "'s"
	}
	if f.Told() {
		i.Stop = &Stop{
			Reason: explain.What(f.Stop.Reason, f.Place), Code: f.Stop.Reason.Kind, Since: terminal.Stamp(f.Stop.Since), Attempts: f.Stop.Attempts,
			URL: f.Said.ResultURL, State: f.Said.State, trouble: f.Said.LastError,
		}
	}
	if s := f.Setup; s.Why != "" {
		i.SetupFailed = &SetupFailed{s.Command, s.Why, terminal.Stamp(s.At), "gh mergexo logs " + i.ref() + " --level warn"}
	}
	if p := f.Pull; f.HasPull() {
		i.PullRequest = &PullRequest{
			Number: p.Number, URL: p.URL, State: p.State, Head: p.HeadOID, Mergeable: p.Mergeable,
			Checks: p.Rollup, Error: p.LastError, Failures: p.Failures, NotBefore: terminal.Stamp(p.NotBefore),
		}
	}
	return i
}

// lack tells that passes do not find the program of its next turn: scheduled ones, or those of this shell.
func (i *Item) lack(st schedule.State, env environ.Env) {
	if i.agent.Name == "" {
		return
	}
	lacks := machine.Missing(env, i.agent, st.Path)
	for _, l := range st.Lacks {
		if l.Program == machine.ProgramOf(i.agent) {
			lacks = &l.Trouble
		}
	}
	if lacks != nil {
		i.WaitingFor, i.ReasonCode, i.NextStep = lacks.Says, work.WhyAgentMissing, lacks.Do
	}
}

// urgency orders items: blocked until a person acts, then waiting for people, then resuming by
// themselves, then finished.
func (f ItemFacts) urgency() int {
	asked := len(f.Unanswered()) > 0
	stands := f.State == work.StateBlocked || f.Turn != nil && f.Turn.Blocked || f.State == work.StateAwaitingIssueFollowup && !asked
	switch {
	case f.Lead != nil && f.Lead.State == roadmap.Stopped:
		return 0
	case f.Lead != nil:
		return 2
	case !f.State.Open():
		return 3
	case f.Pause == nil && stands:
		return 0
	case f.Pause != nil, f.State == work.StateAwaitingFeedback && !asked:
		return 1
	}
	return 2
}

func (f ItemFacts) spent() Spent {
	s, b := spending.Of(f.Spent), f.Budgets
	return Spent{s.Turns, b.TurnsPerItem, s.Rounds, b.FeedbackRounds, CostOf(s.CostUSD, s.UnknownCost), b.CostPerItem, s.Describe(b, true)}
}

func (i Item) ref() string { return fmt.Sprintf("%s#%d", i.Repo, i.Number) }

// address is the item's URL on GitHub: its pull request, or else its issue.
func (i Item) address() string { return cmp.Or(i.pull().URL, i.URL) }

// pull returns its pull request; zero: none yet.
func (i Item) pull() PullRequest {
	if i.PullRequest == nil {
		return PullRequest{}
	}
	return *i.PullRequest
}

// columns returns the fields of the item's line in output for programs.
func (i Item) columns(out terminal.Output) []string {
	comment := ""
	if i.Stop != nil {
		comment = i.Stop.URL
	}
	return []string{i.ref(), i.State, out.When(i.Since.Time, i.now), i.WaitingFor, i.NextStep, string(i.Flow), i.pull().URL, i.Title, i.Spent.says, comment}
}

// head returns the item's lines at the top of show.
func (i Item) head(out terminal.Output) [][2]string {
	pull := i.pull()
	return [][2]string{
		{"item", i.ref()},
		{"title", i.Title},
		{"url", i.URL},
		{"state", i.State},
		{"since", out.When(i.Since.Time, i.now)},
		{waitsLabel(out), i.WaitingFor},
		{"next", i.NextStep},
		{"comment on GitHub", i.Stop.comment()},
		{"warning", i.warning(out)},
		{"flow", string(i.Flow)},
		{"spent", i.Spent.says},
		{"priority", fmt.Sprint(i.Priority)},
		{"branch", i.Branch},
		{"document", i.Document},
		{"pull request", pull.URL},
		{"pull request is", pull.says()},
		{"pull request trouble", pull.Error},
	}
}

// warning tells people that the set-up failed for its last turn.
func (i Item) warning(out terminal.Output) string {
	f := i.SetupFailed
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s); its output: %s", f.says(), out.When(f.At.Time, i.now), f.NextStep)
}

// says sums up a pull request. Only an open one can be mergeable.
func (p PullRequest) says() string {
	is := []string{string(p.State)}
	if p.State == work.PullOpen {
		is = append(is, p.Mergeable)
	}
	return terminal.OneLine(strings.ToLower(strings.Join(append(is, p.Checks), " ")))
}

// comment is the URL of the comment with the reason, or why there is none.
func (s *Stop) comment() string {
	switch {
	case s == nil:
		return ""
	case s.State == work.ActionVoid && s.URL != "":
		return "a person deleted it: " + s.URL
	case s.URL == "":
		return "not yet: " + cmp.Or(s.trouble, "the next pass makes it")
	}
	return s.URL
}
