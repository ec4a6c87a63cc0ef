package status

import (
	"cmp"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/cmd/stops"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

// The views are what --json prints; their names are gh's manner, camel case.
// Absent times are null.

type itemView struct {
	Repo        string       `json:"repo"`
	Number      int          `json:"number"`
	Title       string       `json:"title"`
	URL         string       `json:"url"`
	Flow        string       `json:"flow"`
	State       string       `json:"state"`
	Live        bool         `json:"running"` // a pass works on it now
	Work        *live.View   `json:"work"`    // what that does; null: none does
	Since       *time.Time   `json:"since"`
	WaitingFor  string       `json:"waitingFor"`
	ReasonCode  string       `json:"reasonCode"` // of waitingFor
	NextStep    string       `json:"nextStep"`
	Priority    int          `json:"priority"`
	Branch      string       `json:"branch"`
	PullRequest *pullView    `json:"pullRequest"`
	Pending     int          `json:"pendingEvents"`
	Spent       spentView    `json:"spent"`
	Stop        *stopView    `json:"stop"`   // null: it is not blocked
	Review      *reviewBrief `json:"review"` // null: nothing is reviewed
}

type stopView struct {
	Reason   string     `json:"reason"` // as GitHub is told
	Code     string     `json:"reasonCode"`
	Since    *time.Time `json:"since"`
	Attempts int        `json:"attempts"`
	URL      string     `json:"url"`   // of the comment
	State    string     `json:"state"` // of the comment: planned, sent, applied, void when a person deleted it
}

type pullView struct {
	Number    int        `json:"number"`
	URL       string     `json:"url"`
	State     string     `json:"state"`
	Head      string     `json:"head"`
	Mergeable string     `json:"mergeable"`
	Checks    string     `json:"checks"`
	Error     string     `json:"error"`
	Failures  int        `json:"failures"`
	NotBefore *time.Time `json:"notBefore"`
}

type repoView struct {
	Name      string         `json:"name"`
	Current   string         `json:"currentName"`
	SeenAt    *time.Time     `json:"seenAt"`
	ReadAt    *time.Time     `json:"readAt"`     // when its lists were read last
	Watched   string         `json:"watched"`    // "each pass", "pulse" or "in turn"; empty: this machine does not look at it
	NextLook  *time.Time     `json:"nextLookAt"` // when it is looked at next; null: in the next pass
	Error     string         `json:"error"`
	Failures  int            `json:"failures"`
	NotBefore *time.Time     `json:"notBefore"`
	Left      bool           `json:"left"`     // no name of the config stands for it any more
	LeftAt    *time.Time     `json:"leftAt"`   // since when, as far as a pass has noticed
	Replaced  bool           `json:"replaced"` // another repository has its name
	Items     map[string]int `json:"items"`
	Outcomes  map[string]int `json:"eventOutcomes"`
	Pending   int            `json:"pendingEvents"`
	Blocked   int            `json:"blockedTurns"`
	Input     int64          `json:"inputTokens"`
	Output    int64          `json:"outputTokens"`
	CostInUSD float64        `json:"costUSD"`

	Stopped *stops.StoppedView `json:"mergingStopped"` // null: it is merged into, where the config says so
	First   *looks.First       `json:"firstLook"`      // how far the first look at its open pull requests came; null: it is over, or no pass began it
}

type eventView struct {
	Key         string     `json:"key"`
	Kind        string     `json:"kind"`
	Author      string     `json:"author"`
	State       string     `json:"state"`
	URL         string     `json:"url"`
	CreatedAt   *time.Time `json:"createdAt"`
	SeenAt      *time.Time `json:"seenAt"`
	ProcessedAt *time.Time `json:"processedAt"`
	Outcome     string     `json:"outcome"`
	Body        string     `json:"body"`
	Turn        string     `json:"turn"`
}

type turnView struct {
	Key       string     `json:"key"`
	Kind      string     `json:"kind"`
	Reviewer  string     `json:"reviewer"` // whose review it makes, or fixes; empty: neither
	Step      string     `json:"step"`
	Blocked   bool       `json:"blocked"`
	Reason    string     `json:"reason"`
	Agent     string     `json:"agent"`
	Sandbox   string     `json:"sandbox"`
	Slot      int        `json:"slot"`
	Runs      int        `json:"runs"`
	Attempts  int        `json:"attempts"`
	Head      string     `json:"head"`
	Commit    string     `json:"commit"`
	Error     string     `json:"error"`
	WaitsFor  string     `json:"waitingFor"`
	Code      string     `json:"reasonCode"` // of waitsFor
	NotBefore *time.Time `json:"notBefore"`
	ClaimedAt *time.Time `json:"claimedAt"`
	EndedAt   *time.Time `json:"endedAt"`
	Input     int64      `json:"inputTokens"`
	Output    int64      `json:"outputTokens"`
	CostInUSD float64    `json:"costUSD"`
}

type actionView struct {
	Token     string     `json:"token"`
	Kind      string     `json:"kind"`
	Need      string     `json:"need"`
	State     string     `json:"state"`
	Number    int        `json:"number"`
	Why       string     `json:"why"`
	URL       string     `json:"url"`
	Sends     int        `json:"sends"`
	Error     string     `json:"error"`
	PlannedAt *time.Time `json:"plannedAt"`
	SentAt    *time.Time `json:"sentAt"`
	SeenAt    *time.Time `json:"seenAt"`
	NotBefore *time.Time `json:"notBefore"`
}

type historyView struct {
	At     *time.Time `json:"at"`
	What   string     `json:"what"`
	Detail string     `json:"detail"`
}

// spentView is what was spent of some budgets, and how much they allow; a limit
// of 0 is none.
type spentView struct {
	Turns        int     `json:"turns"`
	MaxTurns     int     `json:"maxTurns"`
	Rounds       int     `json:"feedbackRounds"`
	MaxRounds    int     `json:"maxFeedbackRounds"`
	CostInUSD    float64 `json:"costUSD"`
	MaxCostInUSD float64 `json:"maxCostUSD"`
}

// dayView is what was spent in the last 24 hours, over all repositories.
type dayView struct {
	Turns        int        `json:"turns"`
	MaxTurns     int        `json:"maxTurns"`
	CostInUSD    float64    `json:"costUSD"`
	MaxCostInUSD float64    `json:"maxCostUSD"`
	HeldUntil    *time.Time `json:"heldUntil"` // null while turns may begin
	Why          string     `json:"why"`
	Code         string     `json:"reasonCode"`
}

// Object is the board as JSON.
func (b Board) Object() map[string]any {
	return map[string]any{"items": terminal.Each(b.items, viewItem), "repositories": viewRepos(b), "finished": terminal.Each(b.ended, viewEnded), "day": viewDay(b.day, b.budgets), "paused": stops.ViewHalt(b.halt)}
}

func viewItem(f Facts) itemView {
	r := f.row()
	v := itemView{
		Repo: cmp.Or(f.Called, f.Repo.Name.FullName()), Number: f.Number, Title: f.Title, URL: f.URL,
		Flow: string(f.Flow), State: r.state, Live: f.Live, Work: f.Worked.View(), Since: stamp(r.since),
		WaitingFor: r.waits, ReasonCode: string(r.code), NextStep: r.next, Priority: f.Priority, Branch: f.Branch, Pending: len(f.Unanswered()), Spent: viewSpent(f),
		Review: viewReviewBrief(f),
	}
	if s := f.Stop; f.stopped() {
		said := explain.What(s.Reason, f.Place)
		v.Stop = &stopView{Reason: said, Code: string(s.Reason.Kind), Since: stamp(s.Since), Attempts: s.Attempts, URL: f.Said.ResultURL, State: string(f.Said.State)}
	}
	if p := f.Pull; f.HasPull() {
		v.PullRequest = &pullView{
			Number: p.Number, URL: p.URL, State: string(p.State), Head: p.HeadOID, Mergeable: p.Mergeable,
			Checks: p.Rollup, Error: p.LastError, Failures: p.Failures, NotBefore: stamp(p.NotBefore),
		}
	}
	return v
}

func viewRepo(r work.Repo, c store.Counts) repoView {
	current := ""
	if r.Current != (work.RepoName{}) { // else no pass has seen it
		current = r.Current.FullName()
	}
	v := repoView{
		Name: r.Name.FullName(), Current: current, SeenAt: stamp(r.LookedAt()), ReadAt: stamp(r.HeartbeatAt), Error: r.LastError,
		Failures: r.Failures, NotBefore: stamp(r.NotBefore), Items: map[string]int{}, Outcomes: c.Outcomes,
		Pending: c.Pending, Blocked: c.Blocked,
		Input: c.Usage.InputTokens, Output: c.Usage.OutputTokens, CostInUSD: c.Usage.CostUSD,
	}
	for state, n := range c.Items {
		v.Items[string(state)] = n
	}
	return v
}

// viewRepos are the configured repositories and those that were left.
func viewRepos(b Board) []repoView {
	views := terminal.Each(b.repos, func(r repoStatus) repoView {
		v := viewRepo(r.Repo, r.counts)
		v.First, v.Watched, v.NextLook = r.watched.First, string(r.watched.Manner), stamp(r.watched.Next)
		v.Name, v.Stopped = r.called, stops.ViewStopped(r.stopped, r.called)
		return v
	})
	for _, l := range b.left {
		v := viewRepo(l.Repo, l.Counts)
		v.Left, v.LeftAt, v.Replaced = true, stamp(l.LeftAt), l.Replaced
		views = append(views, v)
	}
	return views
}

func viewEvent(e work.Event, turns map[int64]string) eventView {
	return eventView{
		Key: e.Key, Kind: string(e.Kind), Author: e.Author.Login, State: e.State, URL: e.URL, Body: e.Body,
		CreatedAt: stamp(e.CreatedAt), SeenAt: stamp(e.SeenAt), ProcessedAt: stamp(e.ProcessedAt),
		Outcome: e.Outcome, Turn: turns[e.TurnID],
	}
}

func viewTurn(t work.Turn) turnView {
	return turnView{
		Key: t.Key, Kind: string(t.Kind), Reviewer: t.Reviewer, Step: string(t.Step), Blocked: t.Blocked, Reason: t.Reason,
		Agent: t.Agent, Sandbox: string(t.Sandbox), Slot: t.Slot, Runs: t.Runs, Attempts: t.Attempts, Head: t.Head, Commit: t.Commit,
		Error: t.LastError, WaitsFor: explain.Reason(t.WaitReason, explain.Place{Spending: true}).Here(), Code: string(t.WaitReason.Kind), NotBefore: stamp(t.NotBefore), ClaimedAt: stamp(t.ClaimedAt),
		EndedAt: stamp(t.EndedAt), Input: t.Usage.InputTokens, Output: t.Usage.OutputTokens, CostInUSD: t.Usage.CostUSD,
	}
}

func viewAction(a work.Action) actionView {
	return actionView{
		Token: a.Token, Kind: string(a.Kind), Need: string(a.Need), State: string(a.State), Number: a.Number,
		Why: a.Why, URL: a.ResultURL, Sends: a.Sends, Error: a.LastError, PlannedAt: stamp(a.PlannedAt),
		SentAt: stamp(a.SentAt), SeenAt: stamp(a.SeenAt), NotBefore: stamp(a.NotBefore),
	}
}

func viewHistory(h work.History) historyView { return historyView{stamp(h.At), h.What, h.Detail} }

func viewDay(d spending.Day, b work.Budgets) dayView {
	return dayView{d.Turns, b.TurnsPerDay, d.CostUSD, b.CostPerDay, stamp(d.Until), explain.What(d.Why, explain.Place{Spending: true}), string(d.Why.Kind)}
}

func viewSpent(f Facts) spentView {
	s, b := spending.Of(f.Spent), f.Budgets
	return spentView{s.Turns, b.TurnsPerItem, s.Rounds, b.FeedbackRounds, s.CostUSD, b.CostPerItem}
}

func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
