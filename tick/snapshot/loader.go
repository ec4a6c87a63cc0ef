package snapshot

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Loader reads what a plan may depend on.
type Loader struct {
	store     *store.DB                   // required, but for a Board
	config    *config.Config              // required
	secrets   *secrets.Redactor           // required
	log       *slog.Logger                // required
	now       func() time.Time            // required
	accounts  *env.Accounts               // required: those that write for us
	day       *spending.Day               // required: what the budgets still allow today, which ReadDay reads
	held      func() map[int]work.Holder  // required: who holds this machine's slots
	elsewhere inFlight                    // required: who works in a repository on other machines
	preflight func(context.Context) error // optional: called before git; nil: there is none
}

// inFlight returns the turns of a repository on which passes of other machines work.
type inFlight func(context.Context, *store.Tx, *env.Repo) ([]work.Holder, error)

// New returns the Loader of a pass, whose clock, slots and day may still change.
func New(e *env.Env) *Loader {
	return &Loader{
		store: e.Store, config: e.Config, secrets: e.Secrets, log: e.Log, now: e.Now, accounts: &e.Accounts, day: &e.Day,
		held: func() map[int]work.Holder { return e.Held }, elsewhere: e.InFlightElsewhere, preflight: e.Preflight,
	}
}

// ReadDay reads how much of the day's budgets is left.
func (p *Loader) ReadDay(ctx context.Context) error {
	now := p.now()
	return p.store.View(ctx, func(tx *store.Tx) (err error) {
		*p.day, err = Day(ctx, tx, p.config.Runtime.Budgets, now)
		return err
	})
}

// Day returns what was spent in the last 24 hours and what is left of the day's budgets.
func Day(ctx context.Context, tx *store.Tx, b work.Budgets, now time.Time) (spending.Day, error) {
	spent, err := tx.ListSpentSince(ctx, now.Add(-spending.Window))
	return spending.DayOf(spent, b, now), err
}

// View reads what routing one repository may depend on, the day's budgets among it.
func (p *Loader) View(ctx context.Context, r *env.Repo) (v known.Snapshot, err error) {
	err = p.store.View(ctx, func(tx *store.Tx) error {
		if *p.day, err = Day(ctx, tx, p.config.Runtime.Budgets, tx.Moment(p.now)); err != nil {
			return err
		}
		v, err = p.read(ctx, tx, r, asking)
		return err
	})
	if err != nil {
		return v, err
	}
	v.Files, err = p.files(ctx, r, v)
	return v, err
}

// ForCommand reads what a command about an issue or pull request may depend on that is given
// outside of comments: the repository as a pass would plan for it, and the newest item there. The
// item has no id if nothing is worked on.
func (p *Loader) ForCommand(ctx context.Context, tx *store.Tx, r *env.Repo, number int) (v known.Snapshot, item known.Item, err error) {
	v, from, err := p.begin(ctx, tx, r)
	if err != nil {
		return v, item, err
	}
	if v, err = from.fill(ctx, v, asking); err != nil {
		return v, item, err
	}
	row, err := itemOn(ctx, tx, r.Row.ID, number)
	if item.Item = row; err != nil || row.ID == 0 {
		return v, item, cmp.Or(err, from.restarted(ctx, &item))
	}
	items, err := from.items(ctx, []int64{row.ID})
	if err != nil {
		return v, item, err
	}
	if items[0].Proposals, err = tx.ListProposals(ctx, row.RepoID, row.Number); err != nil {
		return v, item, err
	}
	return v, items[0], from.past(ctx, &items[0])
}

// itemOn returns the item of a pull request, or the newest one of an issue. It has no id if nothing
// is worked on there.
func itemOn(ctx context.Context, tx *store.Tx, repoID int64, number int) (work.Item, error) {
	pull, ok, err := tx.GetPull(ctx, repoID, number)
	if err != nil {
		return work.Item{}, err
	}
	if ok && pull.ItemID != 0 {
		return tx.GetItem(ctx, pull.ItemID)
	}
	item, ok, err := tx.FindItem(ctx, repoID, number)
	if !ok {
		item = work.Item{RepoID: repoID, Number: number}
	}
	return item, err
}

// title makes a pull request's title safe for a commit on its base.
func (p *Loader) title(s string) string { return public.NoClosing(public.Title(p.secrets.Redact(s))) }

// empty returns the part of a snapshot that needs no database.
func (p *Loader) empty(r *env.Repo) known.Snapshot {
	v := known.Snapshot{
		Repo: r.Row, Now: p.now(),
		Policy: known.Policy{
			QuietPeriod: p.config.Runtime.QuietPeriod, ChecksTimeout: p.config.Runtime.ChecksTimeout, RemindAfter: p.config.Runtime.RemindAfter,
			MaxEvents: p.config.Runtime.MaxEventsPerTurn, Budgets: p.config.Runtime.Budgets, Labels: r.Settings.Labels,
			Clean: public.InlineBody, Title: p.title, Mark: r.Mark, Match: env.Matches,
		},
		Day: *p.day, Ignored: r.Ignored,
	}
	for _, h := range p.held() {
		v.Held = append(v.Held, h)
	}
	v.Free = max(0, p.config.Runtime.Workers-len(p.held()))
	return v
}

// files returns the files of the base branch as last fetched, if a ready implementation must be
// scored against active ones. Only then does a pass use git before it claims. Without git, touch
// paths are compared literally.
func (p *Loader) files(ctx context.Context, r *env.Repo, v known.Snapshot) (files []string, err error) {
	ready := slices.ContainsFunc(v.Items, func(i known.Item) bool { return i.State == work.StateReady })
	if !ready || !slices.ContainsFunc(v.Items, known.Item.Active) || p.preflight == nil {
		return nil, nil
	}
	if err := p.preflight(ctx); err != nil {
		return nil, nil //nolint:nilerr // without git this pass claims no turn either, and reports why
	}
	head, ok, err := r.Git().Head(ctx, r.Row.DefaultBranch)
	if err == nil && ok {
		files, err = r.Git().ListFiles(ctx, head)
	}
	if err != nil {
		p.log.DebugContext(ctx, "the base branch's files are not known", "repo_full_name", r.Name.FullName(), "error", err)
	}
	return files, ctx.Err()
}
