package env

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Codes of causes besides those of internal/github.
const (
	CauseLimit   = "limit"   // GitHub's rate limit
	CauseBlocked = "blocked" // a person must act
	CauseSlow    = "slow"    // ingest_timeout ran out
	CauseOther   = "other"
)

// Cause is why a repository was not read.
type Cause struct {
	Code string `json:"code"` // for programs; it stays as it is
	Text string `json:"text"` // the problem, and what to do; it names no repository if the host is the cause
}

// Causes returns why a repository was not read. Each cause appears once, even if several requests
// failed for it.
func (p *Env) Causes(r *Repo, err error) []Cause {
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		return []Cause{{codeOf(wait), explain.What(wait.Reason, explain.Place{})}}
	}
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		said := explain.Reason(blocked.Reason, explain.Place{})
		return []Cause{{CauseBlocked, strings.TrimSuffix(said.Here()+"; "+said.Next(), "; ")}}
	}
	var all []Cause
	for _, t := range github.Troubles(r.Name.Host, err) {
		all = append(all, Cause{t.Code, t.String()})
	}
	switch {
	case len(all) > 0:
		return all
	case errors.Is(err, context.DeadlineExceeded):
		return []Cause{p.tooSlow(r)}
	}
	return []Cause{{CauseOther, strings.Join(strings.Fields(err.Error()), " ")}}
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
		return Cause{silent.Code, silent.String()}
	}
	return Cause{CauseSlow, fmt.Sprintf("reading it took more than %s; ingest_timeout under [runtime] in the config gives it more time", limit)}
}

// ReasonOf joins all causes into the one line that is stored.
func ReasonOf(causes []Cause) string {
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = c.Text
	}
	return strings.Join(texts, "; and: ")
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
