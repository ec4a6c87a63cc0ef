package status

import (
	"cmp"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/stops"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

// The views are the output of --json. Their names are in camel case, as in gh. Absent times are
// null.

type itemView struct {
	Repo        string           `json:"repo"`          // owner/name, with the host in front where two hosts are configured
	Number      int              `json:"number"`        // of the issue, or of a pull request that is only reviewed
	Title       string           `json:"title"`         // the title
	URL         string           `json:"url"`           // the address
	Flow        string           `json:"flow"`          // `design`, `implementation`, `bugfix`, `small_job`; `review` of somebody else's pull request
	State       string           `json:"state"`         // the word that `status` shows: [using.md](../using.md#states)
	Live        bool             `json:"running"`       // whether a pass works on it now
	Work        *live.View       `json:"work"`          // what that pass is doing; null: no pass works on it
	Since       *time.Time       `json:"since"`         // since when it is in that state
	WaitingFor  string           `json:"waitingFor"`    // what it waits for, for people; empty: nothing
	ReasonCode  string           `json:"reasonCode"`    // of `waitingFor`, for programs: one of [reasons](../troubleshooting.md#reasons)
	NextStep    string           `json:"nextStep"`      // what happens next, or what a person must do
	Priority    int              `json:"priority"`      // 1 (late) to 5 (early); 3 is usual
	Branch      string           `json:"branch"`        // the branch of its pull request; empty: none yet
	PullRequest *pullRequestView `json:"pullRequest"`   // null: there is none yet
	Pending     int              `json:"pendingEvents"` // comments and other events that wait for a turn
	Spent       spentView        `json:"spent"`         // spending of its budgets
	Stop        *stopView        `json:"stop"`          // null: it is not blocked
	Review      *reviewBrief     `json:"review"`        // null: nothing is reviewed
}

type stopView struct {
	Reason   string     `json:"reason"`     // the reason, as on GitHub
	Code     string     `json:"reasonCode"` // of `reason`, for programs: one of [reasons](../troubleshooting.md#reasons)
	Since    *time.Time `json:"since"`      // since when
	Attempts int        `json:"attempts"`   // how often it stopped like that
	URL      string     `json:"url"`        // URL of the comment that says so
	State    string     `json:"state"`      // the comment's: `planned`, `sent`, `applied`; `void` when a person deleted it
}

type pullRequestView struct {
	Number    int        `json:"number"`    // of the issue or pull request
	URL       string     `json:"url"`       // its address on GitHub; empty: it has none
	State     string     `json:"state"`     // `open`, `merged` or `closed`
	Head      string     `json:"head"`      // the commit at the end of the branch
	Mergeable string     `json:"mergeable"` // GitHub's word; empty: not known
	Checks    string     `json:"checks"`    // GitHub's word for all its checks; empty: there are none, or not known
	Error     string     `json:"error"`     // why it could not be read; empty: it was
	Failures  int        `json:"failures"`  // how often in a row it failed
	NotBefore *time.Time `json:"notBefore"` // it is not tried before; null: the next pass may
}

type repoView struct {
	Name      string         `json:"name"`          // as the config has it
	Current   string         `json:"currentName"`   // its current name on GitHub; empty: no pass has read it
	SeenAt    *time.Time     `json:"seenAt"`        // when it was last read, or found unchanged
	ReadAt    *time.Time     `json:"readAt"`        // when its lists were read last
	Watched   string         `json:"watched"`       // "each pass", "pulse" or "in turn"; empty: this machine does not look at it
	NextLook  *time.Time     `json:"nextLookAt"`    // when it is read next; null: in the next pass
	Error     string         `json:"error"`         // the last error; empty: none since it went well
	Failures  int            `json:"failures"`      // how often in a row it failed
	NotBefore *time.Time     `json:"notBefore"`     // it is not tried before; null: the next pass may
	Left      bool           `json:"left"`          // the config does not name it any more
	LeftAt    *time.Time     `json:"leftAt"`        // since when, as far as a pass has noticed
	Replaced  bool           `json:"replaced"`      // another repository has its name
	Items     map[string]int `json:"items"`         // how many work items are in each state
	Outcomes  map[string]int `json:"eventOutcomes"` // how many events came to which end
	Pending   int            `json:"pendingEvents"` // comments and other events that wait for a turn
	Blocked   int            `json:"blockedTurns"`  // turns that wait for a person
	Input     int64          `json:"inputTokens"`   // tokens that agents read
	Output    int64          `json:"outputTokens"`  // tokens that agents wrote
	CostInUSD float64        `json:"costUSD"`       // cost in US dollars, as far as it is known

	Stopped *stops.StoppedView `json:"mergingStopped"` // null: merging is not stopped
	First   *looks.First       `json:"firstLook"`      // how far the first look at its open pull requests came; null: it is over, or no pass began it
}

type eventView struct {
	Key         string     `json:"key"`         // its name in the database
	Kind        string     `json:"kind"`        // `issue`, `review`, `summary`, `check` and so on: [design.md](../design.md#words)
	Author      string     `json:"author"`      // the login of who did it
	State       string     `json:"state"`       // a review's verdict, or the like; empty: it has none
	URL         string     `json:"url"`         // its address on GitHub; empty: it has none
	CreatedAt   *time.Time `json:"createdAt"`   // when it happened, by GitHub's clock
	SeenAt      *time.Time `json:"seenAt"`      // when a pass read it
	ProcessedAt *time.Time `json:"processedAt"` // when it was done with; null: it waits
	Outcome     string     `json:"outcome"`     // its result: handled, or why it was ignored
	Body        string     `json:"body"`        // its text
	Turn        string     `json:"turn"`        // the key of the turn that answers it; empty: none yet
}

type turnView struct {
	Key       string     `json:"key"`          // its name in the database
	Kind      string     `json:"kind"`         // `bugfix_start`, `implementation_feedback`, `review` and so on, as `prompts list` names them
	Reviewer  string     `json:"reviewer"`     // whose review it makes, or fixes; empty: neither
	Step      string     `json:"step"`         // `claimed`, `answered`, `pushed`, `applied`, `done`; `superseded`, `failed`, `cancelled`
	Blocked   bool       `json:"blocked"`      // whether a person has to act before it resumes
	Reason    string     `json:"reason"`       // why it was made, or why it ended
	Agent     string     `json:"agent"`        // the agent's name in the config
	Sandbox   string     `json:"sandbox"`      // what surrounded the agent
	Slot      int        `json:"slot"`         // the worker's place
	Runs      int        `json:"runs"`         // how often the agent's program was started
	Attempts  int        `json:"attempts"`     // how often it was tried and failed
	Head      string     `json:"head"`         // the commit that it began at
	Commit    string     `json:"commit"`       // the commit that it made; empty: none
	Error     string     `json:"error"`        // the last error; empty: none since it went well
	WaitsFor  string     `json:"waitingFor"`   // what it waits for, for people; empty: nothing
	Code      string     `json:"reasonCode"`   // of `waitingFor`, for programs: one of [reasons](../troubleshooting.md#reasons)
	NotBefore *time.Time `json:"notBefore"`    // it is not tried before; null: the next pass may
	ClaimedAt *time.Time `json:"claimedAt"`    // when it was begun
	EndedAt   *time.Time `json:"endedAt"`      // when it ended; null: it is under way
	Input     int64      `json:"inputTokens"`  // tokens that agents read
	Output    int64      `json:"outputTokens"` // tokens that agents wrote
	CostInUSD float64    `json:"costUSD"`      // cost in US dollars, as far as it is known
}

type actionView struct {
	Token     string     `json:"token"`     // a hash of its purpose, as in the marker on GitHub
	Kind      string     `json:"kind"`      // `push`, `pull_request`, `comment`, `reply`, `labels` and so on: [design.md](../design.md#an-action)
	Need      string     `json:"need"`      // `required`: its turn waits for it; `cosmetic`: it does not
	State     string     `json:"state"`     // `planned`, `sent`, `applied`, `void` (what it was for is gone), `dropped` (given up)
	Number    int        `json:"number"`    // of the issue or pull request
	Why       string     `json:"why"`       // why it is void or dropped
	URL       string     `json:"url"`       // its address on GitHub; empty: it has none
	Sends     int        `json:"sends"`     // how often it was sent
	Error     string     `json:"error"`     // the last error; empty: none since it went well
	PlannedAt *time.Time `json:"plannedAt"` // when it was stored, before anything was sent
	SentAt    *time.Time `json:"sentAt"`    // when it was sent last; null: never
	SeenAt    *time.Time `json:"seenAt"`    // when GitHub showed it; null: not yet
	NotBefore *time.Time `json:"notBefore"` // it is not tried before; null: the next pass may
}

type historyView struct {
	At     *time.Time `json:"at"`     // when
	What   string     `json:"what"`   // what happened
	Detail string     `json:"detail"` // more of it
}

// spentView is the usage and the limits of some budgets; a limit of 0 means none.
type spentView struct {
	Turns        int     `json:"turns"`             // turns that were begun
	MaxTurns     int     `json:"maxTurns"`          // how many there may be; 0: no limit
	Rounds       int     `json:"feedbackRounds"`    // turns that answered people
	MaxRounds    int     `json:"maxFeedbackRounds"` // how many there may be; 0: no limit
	CostInUSD    float64 `json:"costUSD"`           // cost in US dollars, as far as it is known
	MaxCostInUSD float64 `json:"maxCostUSD"`        // how much that may become; 0: no limit
}

// dayView is the usage of the last 24 hours, over all repositories.
type dayView struct {
	Turns        int        `json:"turns"`      // turns that were begun
	MaxTurns     int        `json:"maxTurns"`   // how many there may be; 0: no limit
	CostInUSD    float64    `json:"costUSD"`    // cost in US dollars, as far as it is known
	MaxCostInUSD float64    `json:"maxCostUSD"` // how much that may become; 0: no limit
	HeldUntil    *time.Time `json:"heldUntil"`  // null while turns may begin
	Why          string     `json:"why"`        // why none may begin
	Code         string     `json:"reasonCode"` // the same for programs: one of [reasons](../troubleshooting.md#reasons)
}

// BoardView is the output of status as JSON.
type BoardView struct {
	Items    []itemView           `json:"items"`        // work items that are open, and with --all the others, too
	Repos    []repoView           `json:"repositories"` // the repositories of the config, and those that left it
	Agents   []machine.AgentState `json:"agents"`       // the agents of the config, and what surrounds them; asking for it starts their programs
	Day      dayView              `json:"day"`          // what was spent in the last 24 hours
	Paused   *stops.HaltView      `json:"paused"`       // the pause of everything; null: there is none
	Finished []endedView          `json:"finished"`     // what was merged or closed in the last 24 hours, the newest first
}

// View returns the board as JSON, without the agents.
func (b Board) View() BoardView {
	return BoardView{
		Items: terminal.Each(b.items, viewItem), Repos: viewRepos(b), Finished: terminal.Each(b.ended, viewEnded), Day: viewDay(b.day, b.budgets), Paused: stops.ViewHalt(b.halt),
	}
}

func viewItem(f Facts) itemView {
	r := f.row()
	v := itemView{
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), Number: f.Number, Title: f.Title, URL: f.URL,
		Flow: string(f.Flow), State: r.state, Live: f.Live, Work: f.Worked.View(), Since: terminal.Stamp(r.since),
		WaitingFor: r.waits, ReasonCode: string(r.code), NextStep: r.next, Priority: f.Priority, Branch: f.Branch, Pending: len(f.Unanswered()), Spent: viewSpent(f),
		Review: viewReviewBrief(f),
	}
	if s := f.Stop; f.stopped() {
		said := explain.What(s.Reason, f.Place)
		v.Stop = &stopView{Reason: said, Code: string(s.Reason.Kind), Since: terminal.Stamp(s.Since), Attempts: s.Attempts, URL: f.Said.ResultURL, State: string(f.Said.State)}
	}
	if p := f.Pull; f.HasPull() {
		v.PullRequest = &pullRequestView{
			Number: p.Number, URL: p.URL, State: string(p.State), Head: p.HeadOID, Mergeable: p.Mergeable,
			Checks: p.Rollup, Error: p.LastError, Failures: p.Failures, NotBefore: terminal.Stamp(p.NotBefore),
		}
	}
	return v
}

func viewRepo(r work.Repo, c store.Counts) repoView {
	current := ""
	if r.Current != (work.RepoName{}) { // otherwise no pass has seen it
		current = r.Current.FullName()
	}
	v := repoView{
		Name: r.Name.FullName(), Current: current, SeenAt: terminal.Stamp(r.LookedAt()), ReadAt: terminal.Stamp(r.HeartbeatAt), Error: r.LastError,
		Failures: r.Failures, NotBefore: terminal.Stamp(r.NotBefore), Items: map[string]int{}, Outcomes: c.Outcomes,
		Pending: c.Pending, Blocked: c.Blocked,
		Input: c.Usage.InputTokens, Output: c.Usage.OutputTokens, CostInUSD: c.Usage.CostUSD,
	}
	for state, n := range c.Items {
		v.Items[string(state)] = n
	}
	return v
}

// viewRepos are the configured repositories and those that left the config.
func viewRepos(b Board) []repoView {
	views := terminal.Each(b.repos, func(r repoStatus) repoView {
		v := viewRepo(r.Repo, r.counts)
		v.First, v.Watched, v.NextLook = r.watched.First, string(r.watched.Manner), terminal.Stamp(r.watched.Next)
		v.Name, v.Stopped = r.called, stops.ViewStopped(r.stopped, r.called)
		return v
	})
	for _, l := range b.left {
		v := viewRepo(l.Repo, l.Counts)
		v.Left, v.LeftAt, v.Replaced = true, terminal.Stamp(l.LeftAt), l.Replaced
		views = append(views, v)
	}
	return views
}

func viewEvent(e work.Event, turns map[int64]string) eventView {
	return eventView{
		Key: e.Key, Kind: string(e.Kind), Author: e.Author.Login, State: e.State, URL: e.URL, Body: e.Body,
		CreatedAt: terminal.Stamp(e.CreatedAt), SeenAt: terminal.Stamp(e.SeenAt), ProcessedAt: terminal.Stamp(e.ProcessedAt),
		Outcome: e.Outcome, Turn: turns[e.TurnID],
	}
}

func viewTurn(t work.Turn) turnView {
	return turnView{
		Key: t.Key, Kind: string(t.Kind), Reviewer: t.Reviewer, Step: string(t.Step), Blocked: t.Blocked, Reason: t.Reason,
		Agent: t.Agent, Sandbox: string(t.Sandbox), Slot: t.Slot, Runs: t.Runs, Attempts: t.Attempts, Head: t.Head, Commit: t.Commit,
		Error: t.LastError, WaitsFor: explain.Reason(t.WaitReason, explain.Place{Spending: true}).Here(), Code: string(t.WaitReason.Kind), NotBefore: terminal.Stamp(t.NotBefore), ClaimedAt: terminal.Stamp(t.ClaimedAt),
		EndedAt: terminal.Stamp(t.EndedAt), Input: t.Usage.InputTokens, Output: t.Usage.OutputTokens, CostInUSD: t.Usage.CostUSD,
	}
}

func viewAction(a work.Action) actionView {
	return actionView{
		Token: a.Token, Kind: string(a.Kind), Need: string(a.Need), State: string(a.State), Number: a.Number,
		Why: a.Why, URL: a.ResultURL, Sends: a.Sends, Error: a.LastError, PlannedAt: terminal.Stamp(a.PlannedAt),
		SentAt: terminal.Stamp(a.SentAt), SeenAt: terminal.Stamp(a.SeenAt), NotBefore: terminal.Stamp(a.NotBefore),
	}
}

func viewHistory(h work.History) historyView {
	return historyView{terminal.Stamp(h.At), h.What, h.Detail}
}

func viewDay(d spending.Day, b work.Budgets) dayView {
	return dayView{d.Turns, b.TurnsPerDay, d.CostUSD, b.CostPerDay, terminal.Stamp(d.Until), explain.What(d.Why, explain.Place{Spending: true}), string(d.Why.Kind)}
}

func viewSpent(f Facts) spentView {
	s, b := spending.Of(f.Spent), f.Budgets
	return spentView{s.Turns, b.TurnsPerItem, s.Rounds, b.FeedbackRounds, s.CostUSD, b.CostPerItem}
}
