// This file records and reports how a pass ended. Nothing here fails a pass, see Aside.

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

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// PassEnd is a pass that has ended.
type PassEnd struct {
	Config  *config.Config
	Store   *store.DB // still open
	Machine work.Machine
	Repos   []*env.Repo // of the config
	Report  *env.Report // never nil; nearly empty if the pass failed early
	Err     error       // why it failed; nil: it did not, or only repositories failed
	Outcome work.PassOutcome
	At      time.Time // by this machine's clock
	Took    time.Duration
	Passes  work.PassFacts // with this one

	dirs    folder.Dirs
	begun   *folder.Begun // its record; nil: it has none
	now     func() time.Time
	secrets *secrets.Redactor
	asked   func() ([]work.RequestCount, []work.RateLimit) // nil: requests are not counted
}

// Observer is called for each ended pass.
type Observer struct {
	Name string // for the log
	Do   func(context.Context, *PassEnd) error
}

// ObservePass records how a pass ended and calls each Observer, even after an error.
func ObservePass(ctx context.Context, e *env.Env, rep *env.Report, err error, after []Observer) {
	ctx = context.WithoutCancel(ctx)
	now := e.Local()
	end := &PassEnd{
		Config: e.Config, Store: e.Store, Machine: e.Machine, Repos: e.All, Report: rep, Err: err, Outcome: outcome(rep, err), At: now, Took: now.Sub(rep.StartedAt),
		dirs: e.Dirs, begun: e.Begun, now: e.Now, secrets: e.Secrets, asked: e.Asked,
	}
	all := append([]Observer{{"the record of the pass", record}, {"the counts of passes", count}}, after...)
	for _, o := range all {
		Aside(ctx, e.Log, o.Name, func(ctx context.Context) error { return o.Do(ctx, end) })
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
	case rep.Halt != nil:
		return work.PassNone
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
	if e.Err != nil {
		all = append(all, strings.Join(strings.Fields(e.Err.Error()), " "))
	}
	for _, r := range e.Report.Repos() {
		if r.Failed && !slices.Contains(all, r.Note) {
			all = append(all, r.Note)
		}
	}
	if shut := e.Report.Shut; shut != nil && len(all) == 0 {
		all = append(all, strings.Join(strings.Fields(shut.Error()), " "))
	}
	return strings.Join(all, "; and: ")
}

// FailedBy returns what else says why a pass failed; empty: nothing does, or it did not.
func FailedBy(outcome work.PassOutcome, err error) work.FailedBy {
	_, damaged := errors.AsType[*store.DamagedError](err)
	_, server := errors.AsType[*store.ServerError](err)
	_, lacks := errors.AsType[*agent.MissingError](err)
	switch {
	case outcome != work.PassFailed:
		return ""
	case damaged, server:
		return work.FailedByDatabase
	case lacks:
		return work.FailedByAgent
	case err == nil:
		return work.FailedByRepos
	}
	return ""
}

// ever is the zero time: counts since ever include all stored rows.
var ever time.Time

// record records the end of the pass and reads what is known of all passes.
func record(ctx context.Context, e *PassEnd) error {
	by := FailedBy(e.Outcome, e.Err)
	if by == work.FailedByRepos && e.Report.WaitsForLogin() {
		by = work.FailedByLogin
	}
	last, err := e.begun.End(ctx, e.Outcome, e.At, e.secrets.Redact(e.why()), by)
	facts, readErr := e.dirs.Passes(e.Config.PassLimits(), e.At)
	e.Passes, e.Passes.Last = facts, last
	return errors.Join(err, readErr)
}

// count counts the pass if metrics are on.
func count(ctx context.Context, e *PassEnd) error {
	if e.Config.Runtime.MetricsFile == "" || e.Outcome == work.PassNone {
		return nil
	}
	var asked []work.RequestCount
	var limits []work.RateLimit
	if e.asked != nil {
		asked, limits = e.asked()
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.CountPass(ctx, e.Outcome, e.Took), tx.CountRequests(ctx, asked), tx.PutRateLimits(ctx, limits))
	})
}

// CountDeaths counts the passes that this one found dead if metrics are on. It does so at the
// beginning: this pass may die, too.
func CountDeaths(ctx context.Context, e *env.Env) error {
	died := e.Begun.Deaths()
	if e.Config.Runtime.MetricsFile == "" || len(died) == 0 {
		return nil
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error {
		for range died {
			if err := tx.CountPass(ctx, work.PassFailed, 0); err != nil {
				return err
			}
		}
		return nil
	})
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
