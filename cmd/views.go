package cmd

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// The views are what --json prints; their names are gh's manner, camel case.
// Absent times are null.

type itemView struct {
	Repo        string     `json:"repo"`
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	URL         string     `json:"url"`
	Flow        string     `json:"flow"`
	State       string     `json:"state"`
	Live        bool       `json:"running"` // a pass works on it now
	Since       *time.Time `json:"since"`
	WaitingFor  string     `json:"waitingFor"`
	NextStep    string     `json:"nextStep"`
	Priority    int        `json:"priority"`
	Branch      string     `json:"branch"`
	PullRequest *pullView  `json:"pullRequest"`
	Pending     int        `json:"pendingEvents"`
	Spent       spentView  `json:"spent"`
	Stop        *stopView  `json:"stop"` // null: it does not stand still
}

type stopView struct {
	Reason   string     `json:"reason"` // as GitHub is told
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

func viewItem(f facts) itemView {
	s := f.standing()
	v := itemView{
		Repo: or(f.Called, f.Repo.Name.FullName()), Number: f.Item.Number, Title: f.Item.Title, URL: f.Item.URL,
		Flow: string(f.Item.Flow), State: f.state(), Live: f.Live, Since: stamp(f.since()),
		WaitingFor: s.waits, NextStep: s.next, Priority: f.Item.Priority, Branch: f.Item.Branch, Pending: f.Pending, Spent: viewSpent(f),
	}
	if s := f.Stop; s != nil {
		v.Stop = &stopView{Reason: s.Reason, Since: stamp(s.Since), Attempts: s.Attempts, URL: f.Said.ResultURL, State: string(f.Said.State)}
	}
	if p := f.Pull; p != nil {
		v.PullRequest = &pullView{
			Number: p.Number, URL: p.URL, State: string(p.State), Head: p.HeadOID, Mergeable: p.Mergeable,
			Checks: p.Rollup, Error: p.LastError, Failures: p.Failures, NotBefore: stamp(p.NotBefore),
		}
	}
	return v
}

func viewRepo(r work.Repo, c store.Counts) repoView {
	v := repoView{
		Name: r.Name.FullName(), Current: r.Current.FullName(), SeenAt: stamp(r.HeartbeatAt), Error: r.LastError,
		Failures: r.Failures, NotBefore: stamp(r.NotBefore), Items: map[string]int{}, Outcomes: c.Outcomes,
		Pending: c.Pending, Blocked: c.Blocked,
		Input: c.Usage.InputTokens, Output: c.Usage.OutputTokens, CostInUSD: c.Usage.CostUSD,
	}
	for state, n := range c.Items {
		v.Items[string(state)] = n
	}
	return v
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
		Key: t.Key, Kind: string(t.Kind), Step: string(t.Step), Blocked: t.Blocked, Reason: t.Reason,
		Agent: t.Agent, Sandbox: string(t.Sandbox), Slot: t.Slot, Runs: t.Runs, Attempts: t.Attempts, Head: t.Head, Commit: t.Commit,
		Error: t.LastError, WaitsFor: t.WaitReason, NotBefore: stamp(t.NotBefore), ClaimedAt: stamp(t.ClaimedAt),
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

func viewHistory(h store.History) historyView { return historyView{stamp(h.At), h.What, h.Detail} }

// each turns rows into views, never into a JSON null.
func each[T, V any](rows []T, view func(T) V) []V {
	views := make([]V, len(rows))
	for i, row := range rows {
		views[i] = view(row)
	}
	return views
}

func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
