package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// VerdictKind is how a turn ended in this pass.
type VerdictKind string

const (
	VerdictDone        VerdictKind = "done"
	VerdictInterrupted VerdictKind = "interrupted"
	VerdictWait        VerdictKind = "waiting"
	VerdictRetry       VerdictKind = "retrying"
	VerdictBlocked     VerdictKind = "blocked"
	VerdictSuperseded  VerdictKind = "superseded"
	VerdictCancelled   VerdictKind = "cancelled"
)

// Report is what a pass did.
type Report struct {
	StartedAt time.Time
	EndedAt   time.Time
	Skipped   string         // why there was no pass; empty: there was one
	Halt      *folder.Halt   // everything was paused, so there was no pass; else nil
	Held      string         // why turns wait for another day's budgets; empty: none does
	Due       int            // turns that are due and were not started; below 0: nothing was planned
	Machines  []work.Machine // others that are silent, or whose passes fail

	// Shut is why some hosts were skipped while others were not: no login, or another account's.
	// The causes of their repositories repeat it.
	Shut error

	agents map[string]work.Outage // that cannot work, by name

	mu     sync.Mutex
	told   map[string]bool // hosts for which the causes of a repository already say why they are skipped
	repos  []RepoReport
	places map[string]int // in repos, by name
	turns  []TurnReport
	merges []MergeReport
}

// RepoReport is what a pass did in one repository.
type RepoReport struct {
	Repo     string `json:"repo"`
	Ingested bool   `json:"ingested"` // everything that may have changed was read
	Note     string `json:"note"`     // why not, or what went wrong
	Failed   bool   `json:"failed"`   // it could not be read
	Replaced string `json:"-"`        // what happened to the repository that had the name before
	Events   int    `json:"events"`   // new ones
	Ignored  int    `json:"-"`        // of these, without an answer
	Notices  int    `json:"-"`        // that were sent
	Wrote    int    `json:"-"`        // of these, which GitHub has taken

	Warnings []string   `json:"warnings"`  // each is told once
	Causes   []Cause    `json:"causes"`    // why it was not read
	Until    *time.Time `json:"notBefore"` // no pass reads it before
}

// TurnReport is what a pass did for one turn.
type TurnReport struct {
	Repo    string          `json:"repo"`
	Number  int             `json:"number"`
	Kind    work.Kind       `json:"kind"`
	TurnKey string          `json:"key"`
	Outcome string          `json:"outcome"` // `done`, `waiting`, `retrying`, `blocked`, `superseded`, `cancelled` or `interrupted`
	Reason  string          `json:"reason"`  // why it was made, waits or is blocked
	Code    work.ReasonKind `json:"reasonCode"`
	URL     string          `json:"url"`
	Resumed bool            `json:"resumed"` // an earlier pass had begun it
}

// MergeReport is what a pass did to merge a pull request.
type MergeReport struct {
	Repo    string          `json:"repo"`
	Number  int             `json:"number"`
	Outcome MergeOutcome    `json:"outcome"` // `merged`, `queued`, `updated`, `waiting` or `blocked`
	Method  string          `json:"-"`       // squash, merge, rebase; of one that is merged
	Head    string          `json:"head"`    // that was approved
	Base    string          `json:"base"`    // the branch
	Commit  string          `json:"commit"`  // that landed
	Differs string          `json:"differs"` // how what landed differs from what was approved
	Reason  string          `json:"reason"`
	Code    work.ReasonKind `json:"reasonCode"`
	URL     string          `json:"url"`
}

// MergeOutcome is the result of a merge attempt in this pass.
type MergeOutcome string

const (
	MergeDone    MergeOutcome = "merged"
	MergeQueued  MergeOutcome = "queued"
	MergeLeft    MergeOutcome = "dequeued"
	MergeUpdated MergeOutcome = "updated" // its branch is being updated from its base
	MergeWaits   MergeOutcome = "waiting" // GitHub refused or did not answer
	MergeBlocked MergeOutcome = "blocked" // a person has to act
)

// TurnChange is one change of a turn's state, for progress on a terminal.
type TurnChange struct {
	Repo   string
	Number int
	Kind   work.Kind
	What   string // claimed, restored, answered, pushed, applied, done, …
	Detail string
	Turn   string // its key
}

// Over reports whether this pass is done with the turn.
func (c TurnChange) Over() bool {
	switch VerdictKind(c.What) {
	case VerdictDone, VerdictInterrupted, VerdictWait, VerdictRetry, VerdictBlocked, VerdictSuperseded, VerdictCancelled:
		return true
	}
	return false
}

// Slowly calls Slow before something that takes long. Call over when it has ended.
func (p *Env) Slowly(what string) (over func()) {
	if p.Slow == nil {
		return func() {}
	}
	return p.Slow(what)
}

// Unprotected is the change reported when a turn starts without a sandbox.
const Unprotected = "no sandbox"

// NewReport starts the report of a pass.
func NewReport(at time.Time) *Report { return &Report{StartedAt: at, Due: -1} }

// TellShut records that the causes of a repository say why its host, or its owner, is skipped.
func (r *Report) TellShut(name work.RepoName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[name.Host], r.told[ownerOf(name)], r.told[wholeName(name)] = true, true, true
}

// Tells reports whether the report already says why a host, or an owner, was skipped.
func (r *Report) Tells(place string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told[place]
}

// StopAgent adds an agent that cannot work.
func (r *Report) StopAgent(o work.Outage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.agents == nil {
		r.agents = map[string]work.Outage{}
	}
	r.agents[o.Agent] = o
}

// StoppedAgents returns the agents that cannot work, by name.
func (r *Report) StoppedAgents() []work.Outage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sorted.Values(maps.Values(r.agents), func(a, b work.Outage) int { return cmp.Compare(a.Agent, b.Agent) })
}

// WaitsForLogin reports whether all that could not be read waits for gh's login.
func (r *Report) WaitsForLogin() bool {
	failed := false
	for _, x := range r.Repos() {
		failed = failed || x.Failed
		if x.Failed && slices.ContainsFunc(x.Causes, func(c Cause) bool { return c.Code != github.TroubleLogin }) {
			return false
		}
	}
	return failed
}

// Repos returns the repositories, sorted by name.
func (r *Report) Repos() []RepoReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sorted.Values(slices.Values(r.repos), func(a, b RepoReport) int { return cmp.Compare(a.Repo, b.Repo) })
}

// Turns returns the turns in the order in which they ended.
func (r *Report) Turns() []TurnReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.turns)
}

// Idle reports whether the report has nothing to print.
func (r *Report) Idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.turns) == 0 && len(r.merges) == 0 && !slices.ContainsFunc(r.repos, func(x RepoReport) bool { return x.Failed || x.Replaced != "" || x.Notices > 0 || len(x.Warnings) > 0 })
}

// Merges returns what was done for pull requests, sorted by repository and number.
func (r *Report) Merges() []MergeReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.merges)
	sorted.By(out, func(a, b MergeReport) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Number, b.Number))
	})
	return out
}

// AddMerge adds what was done to merge a pull request.
func (r *Report) AddMerge(m MergeReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.merges = append(r.merges, m)
}

// AddTurn adds the result of a turn.
func (r *Report) AddTurn(t TurnReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = append(r.turns, t)
}

// Repo changes the entry of one repository and adds it if missing.
func (r *Report) Repo(name string, change func(*RepoReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, known := r.places[name]
	if !known {
		if r.places == nil {
			r.places = map[string]int{}
		}
		i = len(r.repos)
		r.repos, r.places[name] = append(r.repos, RepoReport{Repo: name}), i
	}
	change(&r.repos[i])
}

// Changed reports a turn's change to the terminal and the log.
func (p *Env) Changed(l *Lease, what, detail string) {
	write := p.Log.Info
	if what == string(VerdictBlocked) || what == string(VerdictRetry) || what == Unprotected {
		write = p.Log.Warn
	}
	write("turn changed", p.TurnAttrs(l, "what", what, "detail", detail)...)
	if p.Progress != nil {
		p.Progress(TurnChange{Repo: p.Config.Called(l.Repo.Name), Number: l.Turn.Number, Kind: l.Turn.Kind, What: what, Detail: detail, Turn: l.Turn.Key})
	}
}

// Codes of causes besides those of internal/github.
const (
	CauseLimit   = "limit"          // GitHub's rate limit
	CauseBlocked = "blocked"        // a person must act
	CauseSlow    = "slow"           // the time for one pass ran out
	CausePanic   = "internal_error" // a fault of gh mergexo
	CauseOther   = "other"
)

// Cause is why a repository was not read.
type Cause struct {
	Code string `json:"code"`
	Text string `json:"text"` // the problem, and what to do

	Failure work.Failure `json:"-"` // the same as data: of two passes that fail in the same way, equal
}

// PlaceOf names a repository as the place of a failure.
func PlaceOf(name work.RepoName) string { return ownerOf(name) + "/" + strings.ToLower(name.Name) }

// placeOf returns what a cause concerns that was met at a repository.
func placeOf(name work.RepoName, code string, err error) string {
	switch code {
	case github.TroubleLogin:
		if shut, ok := github.LoginFault(name.Host, err); ok && !shut.Host {
			return ownerOf(name)
		}
		return name.Host
	case github.TroubleUnreachable, github.TroubleServer, CauseLimit:
		return name.Host
	}
	return PlaceOf(name)
}

// Causes returns why a repository was not read. Each cause appears once, even if several requests
// failed for it.
func (p *Env) Causes(r *Repo, err error) []Cause {
	all := p.causes(r, err)
	for i := range all {
		c := &all[i]
		c.Failure.Kind, c.Failure.Place = c.Code, placeOf(r.Name, c.Code, err)
	}
	return all
}

func (p *Env) causes(r *Repo, err error) []Cause {
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		return []Cause{{Code: codeOf(wait), Text: explain.What(wait.Reason, explain.Place{})}}
	}
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		said := explain.Reason(blocked.Reason, explain.Place{})
		return []Cause{{Code: CauseBlocked, Text: strings.TrimSuffix(said.Here()+"; "+said.Next(), "; ")}}
	}
	if broken, ok := errors.AsType[*work.PanicError](err); ok {
		said := explain.Reason(broken.Reason(), explain.Place{})
		return []Cause{{Code: CausePanic, Text: said.Here() + "; " + said.Fix}}
	}
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		return []Cause{{Code: CauseOther, Text: damaged.Error()}}
	}
	var all []Cause
	for _, t := range github.Troubles(r.Name.Host, err) {
		c := Cause{Code: t.Code, Text: t.String()}
		if t.Code != github.TroubleLogin { // the page of single sign-on has another address each time
			c.Failure.Gist = work.Gist(t.Next)
		}
		all = append(all, c)
	}
	switch {
	case len(all) > 0:
		return all
	case errors.Is(err, context.DeadlineExceeded):
		return []Cause{p.tooSlow(r)}
	}
	says := strings.Join(strings.Fields(err.Error()), " ")
	return []Cause{{Code: CauseOther, Text: says, Failure: work.Failure{Gist: work.Gist(says)}}}
}

// codeOf returns CauseLimit for GitHub's rate limit, else the kind of the reason.
func codeOf(wait *work.WaitError) string {
	if wait.Reason.Kind == work.WhyGitHubLimit {
		return CauseLimit
	}
	return string(wait.Reason.Kind)
}

// tooSlow distinguishes a host that never answered from a repository that takes long to read.
func (p *Env) tooSlow(r *Repo) Cause {
	limit := p.Config.Runtime.IngestTimeout
	if _, answered := r.GitHub.Ahead(); !answered {
		silent := github.UnansweredTrouble(r.Name.Host)
		return Cause{Code: silent.Code, Text: silent.String()}
	}
	return Cause{Code: CauseSlow, Text: fmt.Sprintf("reading it took more than %s; the next pass continues", limit)}
}

// ReasonOf joins all causes into the one line that is stored.
func ReasonOf(causes []Cause) string {
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = c.Text
	}
	return strings.Join(texts, "; and: ")
}

// StoredReason is ReasonOf for a row, which is read on all machines: what is wrong may be wrong on this one only.
func (p *Env) StoredReason(causes []Cause) string {
	if slices.ContainsFunc(p.Machines, func(m work.Machine) bool { return m.Name != p.Machine.Name }) {
		return "on machine " + p.Machine.Name + ": " + ReasonOf(causes)
	}
	return ReasonOf(causes)
}

// Postponed returns until when this pass skips a repository: it failed before, or GitHub set a
// time. AtOnce ignores the row's time, because a person may have fixed the failure. GitHub's limits
// hold even then, see HoldLimits.
func (p *Env) Postponed(r *Repo) (until time.Time, ok bool) {
	if p.AtOnce {
		return time.Time{}, false
	}
	now := r.GitHub.Now()
	return r.Row.NotBefore, r.Row.NotBefore.After(now) && !Future(r.Row.NotBefore, now, work.LongestWait)
}
