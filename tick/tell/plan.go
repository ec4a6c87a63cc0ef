package tell

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
)

// change is what a round writes.
type change struct {
	fresh []news.Known // targets and kinds to send from now on
	gone  []news.Known // targets and kinds no longer sent
	add   []news.Entry
}

// plan stores new messages and returns those to send, including those that a pass was sending when
// it may have died. If there is nothing new, it writes nothing.
func (t *Notifier) plan(ctx context.Context, passes *work.PassFacts) (planned []news.Entry, err error) {
	var c change
	now := t.now() // one for both runs of a View, which reads the same both times
	err = t.store.View(ctx, func(tx *store.Tx) (err error) {
		c, err = t.read(ctx, tx, passes, now)
		if err == nil {
			planned, err = tx.ListPlannedNews(ctx)
		}
		return err
	})
	if err != nil || len(c.fresh)+len(c.gone)+len(c.add) == 0 {
		return planned, err
	}
	return append(planned, c.add...), t.store.Update(ctx, func(tx *store.Tx) error {
		for _, k := range c.gone {
			if err := tx.ForgetTarget(ctx, k, t.now()); err != nil {
				return err
			}
		}
		for _, k := range c.fresh {
			if err := tx.KnowTarget(ctx, k); err != nil {
				return err
			}
		}
		for _, e := range c.add {
			if err := tx.AddNews(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// read loads the facts and decides what to write.
func (t *Notifier) read(ctx context.Context, tx *store.Tx, passes *work.PassFacts, now time.Time) (c change, err error) {
	known, err := tx.ListKnownTargets(ctx)
	if err != nil {
		return c, err
	}
	targets := t.config.Targets()
	c.gone = t.gone(known, targets)
	if len(targets) == 0 {
		return c, nil
	}
	c.fresh = t.fresh(known, targets)
	f, err := t.facts(ctx, tx, targets, passes, now)
	if err != nil {
		return c, err
	}
	entries := append(news.Standing(f, c.fresh), news.Decide(f, targets, append(known, c.fresh...))...)
	for _, e := range entries {
		had, err := tx.HasNews(ctx, e.Target, e.Key)
		if err != nil {
			return c, err
		}
		if !had && !slices.ContainsFunc(c.add, func(o news.Entry) bool { return o.Target == e.Target && o.Key == e.Key }) {
			c.add = append(c.add, e)
		}
	}
	return c, nil
}

// fresh returns configured targets that are not stored yet, with their kinds. Their news start with this
// pass.
func (t *Notifier) fresh(known []news.Known, targets []string) (all []news.Known) {
	for _, target := range targets {
		for _, w := range news.All() {
			if !slices.ContainsFunc(known, func(k news.Known) bool { return k.Target == target && k.What == w }) {
				all = append(all, news.Known{Target: target, What: w, Config: t.configID, Since: t.began})
			}
		}
	}
	return all
}

// gone returns stored targets that this config no longer names. Targets of another config
// that uses the same state folder stay.
func (t *Notifier) gone(known []news.Known, targets []string) (all []news.Known) {
	for _, k := range known {
		if !slices.Contains(targets, k.Target) && k.Config == t.configID {
			all = append(all, k)
		}
	}
	return all
}

// facts loads the facts for messages and redacts them, because people paste secrets into titles.
func (t *Notifier) facts(ctx context.Context, tx *store.Tx, targets []string, passes *work.PassFacts, now time.Time) (f news.Facts, err error) {
	since := now.Add(-news.MostAge)
	f = news.Facts{Now: now, Budget: t.day.Why, Failing: map[string]news.Entry{}, Passes: passes}
	if t.store.Shared() {
		f.Machine = t.machine
		if f.Others, err = t.others(ctx, tx); err != nil {
			return f, err
		}
		if f.Silences, err = tx.ListSilences(ctx); err != nil {
			return f, err
		}
	}
	f.Stops, err = tx.ListNewStops(ctx, since)
	if err == nil {
		f.Waits, err = tx.ListNewWaits(ctx, since)
	}
	if err == nil {
		f.Opened, err = tx.ListNewPulls(ctx, since)
	}
	if err == nil {
		f.Merged, err = tx.ListNewMerged(ctx, since)
	}
	if err == nil {
		f.Approvals, err = tx.ListNewApprovals(ctx, since)
	}
	if err == nil {
		f.Agents, err = tx.ListOutages(ctx)
		f.Agents = slices.DeleteFunc(f.Agents, func(o work.Outage) bool { return !o.Stands() })
	}
	if passes != nil {
		f.Logins = t.logins()
	}
	if err == nil {
		f.Halts, err = tx.ListNewHalts(ctx, since)
	}
	for _, target := range targets {
		if err != nil {
			break
		}
		var e news.Entry
		var failing bool
		if e, failing, err = tx.FindFailing(ctx, target, f.Machine); failing {
			f.Failing[target] = e
		}
	}
	f.Clean(t.secrets.Redact)
	return f, err
}

// logins returns where GitHub accepts nothing from gh's login, once an earlier pass has met the same.
func (t *Notifier) logins() (all []news.Login) {
	lost := t.accounts.LoginTroubles()
	for _, x := range t.dirs.Failing() {
		if why, is := lost[x.Place]; is && x.Kind == github.TroubleLogin {
			all = append(all, news.Login{Where: x.Place, Says: why.Cause, Do: why.Next, Since: x.Since})
		}
	}
	return all
}

// others returns the other machines.
func (t *Notifier) others(ctx context.Context, tx *store.Tx) ([]work.Machine, error) {
	all, err := tx.ListMachines(ctx)
	return slices.DeleteFunc(all, func(m work.Machine) bool { return m.Name == t.machine }), err
}
