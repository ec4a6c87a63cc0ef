// Package observe is what is noted and told of a pass once it has ended: whether it
// failed, and how many did in a row. What is done here fails no pass, and holds it up for
// no longer than a deadline; what sends anything anywhere has one of its own.
package observe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// within is how long what reads and writes on this machine may take.
const within = 5 * time.Second

// End is a pass that has ended.
type End struct {
	*env.Env             // with its Store still open
	Report   *env.Report // never nil; of a pass that failed early it says little
	Err      error       // why it failed; nil: it did not, or only its repositories did
	Outcome  work.PassOutcome
	At       time.Time // when it ended, by this machine's clock
	Took     time.Duration
	Last     work.LastPass // the last passes, this one included

	turned bool // it failed, or ended a row of failures
}

// After is called with each pass that has ended. Its error is logged.
type After func(context.Context, *End) error

// Pass notes how a pass ended and calls what wants to know, however it ended.
func Pass(ctx context.Context, e *env.Env, rep *env.Report, err error, after []After) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	now := e.Local()
	end := &End{Env: e, Report: rep, Err: err, Outcome: outcome(rep, err), At: now, Took: now.Sub(rep.StartedAt)}
	problems := []error{end.note(ctx)}
	for _, tell := range after {
		problems = append(problems, tell(ctx, end))
	}
	if err := errors.Join(problems...); err != nil {
		e.Log.WarnContext(ctx, "could not tell how the pass ended", "error", err)
	}
}

// outcome judges a pass by its error and by what it read.
func outcome(rep *env.Report, err error) work.PassOutcome {
	repos := rep.Repos()
	some := func(is func(env.RepoReport) bool) bool { return slices.ContainsFunc(repos, is) }
	read := some(func(r env.RepoReport) bool { return r.Ingested || !r.Failed && r.Until == nil })
	switch {
	case errors.Is(err, context.Canceled):
		return work.PassCancelled
	case err != nil, rep.Shut != nil:
		return work.PassFailed
	case len(repos) == 0, read:
		return work.PassOK
	case some(func(r env.RepoReport) bool { return r.Failed }):
		return work.PassFailed
	}
	return work.PassWaiting
}

// Why is why the pass failed, in one line; empty: it did not.
func (e *End) Why() string {
	if e.Outcome != work.PassFailed {
		return ""
	}
	var all []string
	if err := errors.Join(e.Err, e.Report.Shut); err != nil {
		all = append(all, strings.Join(strings.Fields(err.Error()), " "))
	}
	for _, r := range e.Report.Repos() {
		if r.Failed && !slices.Contains(all, r.Note) {
			all = append(all, r.Note)
		}
	}
	return strings.Join(all, "; and: ")
}

// ever is since when what is counted counts.
var ever time.Time

// note stores how the pass ended where somebody reads it: for metrics, and where a pass fails
// or ends a row of failures. Any other idle pass writes nothing.
func (e *End) note(ctx context.Context) error {
	metered := e.Config.Runtime.MetricsFile != ""
	if !metered {
		err := e.Store.View(ctx, func(tx *store.Tx) error { return e.follow(ctx, tx) })
		if err != nil || !e.turned {
			return err
		}
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error { // passes may end at once: what is known is read here
		err := e.follow(ctx, tx)
		if err == nil && (e.turned || metered) {
			err = tx.PutLastPass(ctx, e.Last)
		}
		if err == nil && metered {
			err = e.count(ctx, tx)
		}
		return err
	})
}

// follow makes Last of what is known of the passes before.
func (e *End) follow(ctx context.Context, tx *store.Tx) error {
	before, _, err := tx.LastPass(ctx)
	e.Last = before.After(e.Outcome, e.At, e.Took, e.Why())
	e.turned = e.Last.Failures != before.Failures
	return err
}

// count counts the pass, and what it asked of GitHub.
func (e *End) count(ctx context.Context, tx *store.Tx) error {
	if err := tx.CountPass(ctx, e.Outcome, e.Took); err != nil || e.Asked == nil {
		return err
	}
	asked, limits := e.Asked()
	return errors.Join(tx.CountRequests(ctx, asked), tx.PutRateLimits(ctx, limits))
}
