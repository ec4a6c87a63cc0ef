// This file records and reports how a pass ended: whether it failed, and how many failed in a
// row. Nothing here fails a pass. Work on this machine has one deadline; senders have their own.

package tell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// within is the deadline for reads and writes on this machine.
const within = 5 * time.Second

// PassEnd is a pass that has ended.
type PassEnd struct {
	*env.Env             // with its Store still open
	Report   *env.Report // never nil; nearly empty if the pass failed early
	Err      error       // why it failed; nil: it did not, or only repositories failed
	Outcome  work.PassOutcome
	At       time.Time // by this machine's clock
	Took     time.Duration
	Last     work.LastPass // the last passes, with this one

	turned bool // it failed or ended a series of failures
}

// Observer is called for each ended pass. Its error is logged.
type Observer func(context.Context, *PassEnd) error

// ObservePass records how a pass ended and calls each Observer, even after an error.
func ObservePass(ctx context.Context, e *env.Env, rep *env.Report, err error, after []Observer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	now := e.Local()
	end := &PassEnd{Env: e, Report: rep, Err: err, Outcome: outcome(rep, err), At: now, Took: now.Sub(rep.StartedAt)}
	problems := []error{end.storeOutcome(ctx)}
	for _, tell := range after {
		problems = append(problems, tell(ctx, end))
	}
	if err := errors.Join(problems...); err != nil {
		e.Log.WarnContext(ctx, "could not record how the pass ended", "error", err)
	}
}

// outcome returns a pass's outcome from its error and what it read.
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

// why returns why the pass failed, in one line; empty: it did not.
func (e *PassEnd) why() string {
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

// ever is the zero time: counts since ever include all stored rows.
var ever time.Time

// storeOutcome stores how the pass ended if metrics are on, or if the pass failed or ended a series
// of failures. Other idle passes write nothing.
func (e *PassEnd) storeOutcome(ctx context.Context) error {
	metered := e.Config.Runtime.MetricsFile != ""
	if !metered {
		err := e.Store.View(ctx, func(tx *store.Tx) error { return e.follow(ctx, tx) })
		if err != nil || !e.turned {
			return err
		}
	}
	var asked []work.RequestCount
	var limits []work.RateLimit
	if metered && e.Asked != nil {
		asked, limits = e.Asked()
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error { // passes may end at the same time, so the previous ones are read here
		err := e.follow(ctx, tx)
		if err == nil && (e.turned || metered) {
			err = tx.PutLastPass(ctx, e.Last)
		}
		if err == nil && metered {
			err = errors.Join(tx.CountPass(ctx, e.Outcome, e.Took), tx.CountRequests(ctx, asked), tx.PutRateLimits(ctx, limits))
		}
		return err
	})
}

// follow sets Last to the stored summary of earlier passes, updated with this pass.
func (e *PassEnd) follow(ctx context.Context, tx *store.Tx) error {
	before, _, err := tx.LastPass(ctx)
	e.Last = before.After(e.Outcome, e.At, e.Took, e.why())
	e.turned = e.Last.Failures != before.Failures
	return err
}

// LogReview logs an event of a pull request's reviews, in flat fields like every log line.
func LogReview(ctx context.Context, log *slog.Logger, n store.ReviewLog, attrs ...any) {
	var data map[string]any
	d := json.NewDecoder(strings.NewReader(n.Data))
	d.UseNumber() // GitHub's ids are long
	if err := d.Decode(&data); err != nil {
		log.ErrorContext(ctx, "could not read the log entries of a review", "key", n.Key, "error", err)
	}
	attrs = append(attrs, "key", n.Key)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value := data[key]
		if list, ok := value.([]any); ok {
			value = strings.Trim(fmt.Sprint(list), "[]")
		}
		if value != nil {
			attrs = append(attrs, key, value)
		}
	}
	log.InfoContext(ctx, n.What, attrs...) //nolint:sloglint // one of the fixed names of the reviews' events
}
