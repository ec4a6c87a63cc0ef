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
	Repo        string          `json:"repo"`
	Number      int             `json:"number"` // of the issue, or of a pull request that is only reviewed
	Title       string          `json:"title"`
	URL         string          `json:"url"`
	Flow        work.Flow       `json:"flow"`
	State       string          `json:"state"`   // [states](../using.md#states)
	Stopped     bool            `json:"stopped"` // a person has to act
	Since       terminal.Time   `json:"since"`   // of the state
	WaitingFor  string          `json:"waitingFor"`
	ReasonCode  work.ReasonKind `json:"reasonCode"`
	NextStep    string          `json:"nextStep"`
	Priority    int             `json:"priority"`    // 1 (late) to 5 (early)
	Turn        *Turn           `json:"turn"`        // that a pass works on now
	PullRequest *PullRequest    `json:"pullRequest"` // null: none yet
	Spent       Spent           `json:"spent"`
	Stop        *Stop           `json:"stop"`   // null: it is not blocked
	Review      *Review         `json:"review"` // null: nothing is reviewed

	named       string            // as commands name it
	branch      string            // of its pull request; empty: none yet
	document    string            // the path of its design document; empty: none
	setupFailed work.SetupFailure // of its last turn
	agent       config.Agent      // of its next turn, if it waits for a pass alone; empty name: it does not
	open        bool
	urgency     int       // orders items for people
	now, local  time.Time // by GitHub's clock, and by this machine's
}

// PullRequest is a pull request, in every view.
type PullRequest struct {
	Number    int            `json:"number"`
	URL       string         `json:"url"`
	State     work.PullState `json:"state"`     // `open`, `merged` or `closed`
	Head      string         `json:"head"`      // its last commit
	Mergeable string         `json:"mergeable"` // in GitHub's word
	Checks    string         `json:"checks"`    // in GitHub's word for all of them
	Error     string         `json:"error"`     // why it could not be read

	closing bool // a command closes it, and no pass has read that
}

// PullOf returns a stored pull request for people and programs.
func PullOf(p work.PullRequest) PullRequest {
	return PullRequest{Number: p.Number, URL: p.URL, State: p.State, Head: p.HeadOID, Mergeable: p.Mergeable, Checks: p.Rollup, Error: p.LastError}
}

// Stop is why an item is blocked, as a comment on GitHub tells it.
type Stop struct {
	Reason string          `json:"reason"`
	Code   work.ReasonKind `json:"reasonCode"`
	URL    string          `json:"url"` // of the comment that says so

	state   work.ActionState // of that comment; void: a person deleted it
	trouble string           // why it could not be made
}

// setupSays tells in one line, without when, that a set-up failed. Turns run without what it makes.
func setupSays(f work.SetupFailure) string { return "the set-up failed: " + f.Command + " " + f.Why }

// Spent is the usage and the limits of some budgets; a limit of 0 means none.
type Spent struct {
	Turns     int `json:"turns"`
	MaxTurns  int `json:"maxTurns"`
	Rounds    int `json:"feedbackRounds"` // turns that answered people
	MaxRounds int `json:"maxFeedbackRounds"`
	Cost
	MaxCostInUSD float64 `json:"maxCostUSD"`

	says string
}

// ItemFacts are what the database holds about one work item.
type ItemFacts struct {
	known.Item
	plan.Outlook
	Repo    work.Repo
	Called  string        // the repository's name, with its host if that is ambiguous
	Live    bool          // a live pass works on it
	Full    bool          // every slot is taken
	Worked  *Turn         // what that pass does; nil: none works on it
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

func (f ItemFacts) ref() string { return f.numbered(f.Number) }

// named returns the item as commands name it.
func (f ItemFacts) named() string { return f.numbered(f.Named(f.Number)) }

func (f ItemFacts) numbered(n int) string {
	return fmt.Sprintf("%s#%d", cmp.Or(f.Called, f.Repo.Name.FullName()), n)
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
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), named: f.named(), Number: f.Number, Title: f.Title, URL: f.URL, Flow: f.Flow, State: string(f.State), Stopped: true,
		Since: terminal.Stamp(f.Since), WaitingFor: said.Here(), ReasonCode: work.WhyPanic, NextStep: said.Next(), open: f.State.Open(), now: f.Now, local: f.Local,
	}
}

// item returns what people and programs see of the facts.
func (f ItemFacts) item() Item {
	s := plan.StandingOf(f.Item, f.Outlook, plan.Around{Now: f.Now, Repo: f.Repo, Called: f.Called, Halted: f.Halt != nil && !f.Halt.Moved, Live: f.Live, Full: f.Full})
	typed := f.Place
	typed.Item = f.named()
	i := Item{
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), named: typed.Item, Number: f.Number, Title: f.Title, URL: f.URL, Flow: f.Flow,
		State: s.State, Stopped: f.State.NeedsPerson() || f.Lead != nil && s.Blocked, Turn: f.Worked, Since: terminal.Stamp(s.Since),
		WaitingFor: s.Says(f.Place, true), ReasonCode: s.Why.Kind,
		NextStep: s.Next(typed), Priority: f.Priority, Spent: f.spent(), Review: f.review(),
		branch: f.Branch, document: f.Document, setupFailed: f.Setup, open: f.State.Open() || f.Lead != nil, urgency: f.urgency(), now: f.Now, local: f.Local,
	}
	switch s.Why.Kind { //nolint:exhaustive // no other waits for a pass alone
	case work.WhyToAnswer, work.WhyReviewDue, work.WhyReviewFixDue, work.WhyNoSlot:
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
		i.Stop = &Stop{explain.What(f.Stop.Reason, f.Place), f.Stop.Reason.Kind, f.Said.ResultURL, f.Said.State, f.Said.LastError}
	}
	if p := f.Pull; f.HasPull() {
		if head := f.NewestHead(); head != p.HeadOID { // no pass has read what GitHub says of it
			p.HeadOID, p.Mergeable, p.Rollup = head, "", ""
		}
		i.PullRequest = new(PullOf(p))
		i.PullRequest.closing = f.Closing()
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

// Named returns the item as commands name it.
func (i Item) Named() string { return i.named }

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
	return []string{i.ref(), i.State, out.When(i.Since.Time, i.now), out.Ours(i.WaitingFor), out.Ours(i.NextStep), string(i.Flow), i.pull().URL, i.Title, i.Spent.says, comment}
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
		{"branch", i.branch},
		{"document", i.document},
		{"pull request", pull.URL},
		{"pull request is", pull.says()},
		{"pull request trouble", pull.Error},
	}
}

// warning tells people that the set-up failed for its last turn.
func (i Item) warning(out terminal.Output) string {
	f := i.setupFailed
	if f.Why == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s); its output: gh mergexo logs %s --level warn", setupSays(f), out.When(f.At, i.now), i.ref())
}

// is is its state in words.
func (p PullRequest) is() string {
	if p.closing {
		return "open at the last pass, and a command closes it"
	}
	return string(p.State)
}

// says sums up a pull request. Only an open one can be mergeable.
func (p PullRequest) says() string {
	is := []string{p.is()}
	if p.State == work.PullOpen && !p.closing {
		is = append(is, p.Mergeable)
	}
	return terminal.OneLine(strings.ToLower(strings.TrimSpace(strings.Join(append(is, p.Checks), " "))))
}

// comment is the URL of the comment with the reason, or why there is none.
func (s *Stop) comment() string {
	switch {
	case s == nil:
		return ""
	case s.state == work.ActionVoid && s.URL != "":
		return "a person deleted it: " + s.URL
	case s.URL == "":
		return "not yet: " + cmp.Or(s.trouble, "the next pass makes it")
	}
	return s.URL
}
