package tell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

const (
	// noticesPerPass and noticesLimit limit one repository's notices in a pass. They are checked
	// before each send; the next pass sends the rest.
	noticesPerPass = 40
	noticesLimit   = 30 * time.Second
	mostLooks      = 8 // of notices that are looked for side by side
)

// SendNotices sends the planned actions that belong to no turn: reactions, redirects, stop
// comments, labels. Only the holder of the repository's notices lock sends; other passes skip it.
func (p *Notices) SendNotices(ctx context.Context, r *env.Repo, rep *env.Report) {
	_ = p.containRepo(ctx, "send notices in", r, rep, func() error { p.sendNotices(ctx, r, rep); return nil })
}

func (p *Notices) sendNotices(ctx context.Context, r *env.Repo, rep *env.Report) {
	if ctx.Err() != nil {
		return
	}
	r.Sends.Lock()
	defer r.Sends.Unlock()
	if !p.Waiting(ctx, r) {
		return
	}
	unlock, ok, err := p.tryNotices(ctx, r.Row)
	if err != nil || !ok {
		return
	}
	defer unlock()
	ctx, due, err := p.take(ctx, r)
	if err != nil {
		p.log.ErrorContext(ctx, "could not claim the notices", "repo_full_name", r.Name.FullName(), "error", err)
		return
	}
	var looks *actions.Looks
	err = github.SideBySide(ctx, func(ctx context.Context) error { return p.stillSame(ctx, r, env.SameFor) }, func(ctx context.Context) error {
		looks = actions.Look(ctx, p.scope(r), due[:min(len(due), mostLooks)]...)
		return nil
	})
	if err != nil {
		p.log.WarnContext(ctx, "notices wait", "repo_full_name", r.Name.FullName(), "error", err)
		return
	}
	if s := p.sendDue(ctx, r, due, looks, rep); s.sent > 0 {
		rep.Repo(p.config.Called(r.Name), func(x *env.RepoReport) {
			x.Notices += s.sent
			x.Wrote += s.wrote
		})
	}
}

// send applies a notice in the name of its speaker.
func (p *Notices) send(ctx context.Context, r *env.Repo, looks *actions.Looks, a work.Action) (work.Action, error) {
	scope, speaker, err := p.speakers.ScopeFor(ctx, p.scope(r), r, a, work.Account{})
	if err != nil {
		return a, err
	}
	scope.Looks = looks
	a, err = p.effects().Apply(ctx, scope, a)
	return a, speaker.ExplainRefusal(err)
}

// noticeFailed drops or defers a notice.
func (p *Notices) noticeFailed(ctx context.Context, r *env.Repo, a work.Action, err error) {
	p.log.WarnContext(ctx, "notice not sent", p.effects().LogAttrs(ctx, r.Row, a, "error", err)...)
	if mustDrop(a, err) {
		a, err := p.effects().Drop(ctx, a, err)
		if err == nil && a.State == work.ActionDropped && showsState(a) {
			err = p.deferDropped(ctx, a)
		}
		if err != nil {
			p.log.ErrorContext(ctx, "could not drop a notice", p.effects().LogAttrs(ctx, r.Row, a, "error", err)...)
		}
		return
	}
	until := p.now().Add(work.Backoff(p.config.Runtime.RetryBase, max(1, a.Sends)))
	why := err.Error()
	err = p.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.DeferAction(ctx, a.ID, until, why) })
	if err != nil {
		p.log.ErrorContext(ctx, "could not defer a notice", p.effects().LogAttrs(ctx, r.Row, a, "error", err)...)
	}
}

// mustDrop reports whether a failed notice is dropped: a cosmetic one at once, others after
// MaxAttempts sends. Actions of a command (close, flow) are never dropped, because its answer says
// that they were done. Labels and statuses that show a state are dropped only if GitHub refuses
// them, as only the item's next move would plan them again.
func mustDrop(a work.Action, err error) bool {
	switch {
	case a.Kind == work.ActionClose, a.Kind == work.ActionFlow:
		return false
	case a.Kind == work.ActionRepoLabels:
		return github.IsStatus(err, 403, 404, 410, 422)
	case a.Kind == work.ActionReviewRequest: // of the author, for example, or of somebody without access
		return github.IsStatus(err, 403, 404, 410, 422) || a.Sends >= work.MaxAttempts
	case a.Kind == work.ActionStatus, a.Need == work.NeedCosmetic && a.Kind == work.ActionLabels:
		return github.IsStatus(err, 401, 403, 404, 410, 422)
	}
	return a.Need == work.NeedCosmetic || a.Sends >= work.MaxAttempts
}

// DueNotices returns the notices that are due. A sent notice without an answer is due at once:
// Apply looks for its effect first, and only sending again waits. Notices that failed before come
// last, as they may use up the pass's time again. If thousands wait, it returns as many as a pass
// may reach; of the failed ones, those with the oldest try.
func (p *Notices) DueNotices(ctx context.Context, r *env.Repo) ([]work.Action, error) {
	return store.Read(ctx, p.store, func(tx *store.Tx) ([]work.Action, error) { return p.readDue(ctx, tx, r) })
}

func (p *Notices) readDue(ctx context.Context, tx *store.Tx, r *env.Repo) (due []work.Action, err error) {
	now, taken, tried := tx.Moment(p.now), map[line]int{}, map[line][]work.Action{}
	held, err := heldByRoadmaps(ctx, tx, r.Row.ID)
	if err != nil {
		return nil, err
	}
	due, err = tx.ChooseNotices(ctx, r.Row.ID, func(a work.Action) bool {
		if held(a) {
			return false
		}
		if r.Removed && !sendsLeft(a) || a.State != work.ActionSent && a.NotBefore.After(now) {
			return false
		}
		if waitsForOthers(a) {
			return true
		}
		of := lineOf(a)
		if of.failedBefore > 0 {
			tried[of] = longestLeft(append(tried[of], a), 2*mostInLine)
			return false
		}
		taken[of]++
		return taken[of] <= mostInLine
	})
	for _, all := range tried {
		due = append(due, longestLeft(all, mostInLine)...)
	}
	sorted.By(due, func(a, b work.Action) int {
		return cmp.Or(cmp.Compare(failedBefore(a), failedBefore(b)), a.PlannedAt.Compare(b.PlannedAt), cmp.Compare(a.ID, b.ID))
	})
	return due, err
}

// heldByRoadmaps returns whether an action waits because people paused, cancelled or deleted the roadmap of
// which it makes a part.
func heldByRoadmaps(ctx context.Context, tx *store.Tx, repoID int64) (func(work.Action) bool, error) {
	live, err := tx.ListRoadmaps(ctx, repoID)
	if err != nil || len(live) == 0 {
		return func(work.Action) bool { return false }, err
	}
	pauses, err := tx.ListOpenPauses(ctx, repoID)
	return func(a work.Action) bool {
		return slices.ContainsFunc(live, func(m roadmap.Record) bool {
			paused := m.Closed || slices.ContainsFunc(pauses, func(p work.Pause) bool { return p.Number == m.Number })
			return m.ItemID == a.ItemID && m.Holds(a, paused)
		})
	}, err
}

// longestLeft returns the mostInLine notices that were not tried for the longest time, if there are
// more than most: others may fail in each pass.
func longestLeft(all []work.Action, most int) []work.Action {
	if len(all) <= most {
		return all
	}
	sorted.By(all, func(a, b work.Action) int { return a.NotBefore.Compare(b.NotBefore) })
	return all[:mostInLine]
}

// mostInLine is how many notices of one line a pass may reach. Failed ones do not count towards
// noticesPerPass.
const mostInLine = 3 * noticesPerPass

// line is a queue of notices. Lines do not hold up one another.
type line struct {
	labels       bool // of the repository itself
	sign         bool
	failedBefore int
}

func lineOf(a work.Action) line {
	return line{a.Kind == work.ActionRepoLabels, isSign(a), failedBefore(a)}
}

// failedBefore returns 1 for a notice that failed before, else 0.
func failedBefore(a work.Action) int { return min(1, a.Sends+len(a.LastError)) }

// isSign reports whether a notice writes no text.
func isSign(a work.Action) bool {
	return a.Kind == work.ActionLabels || a.Kind == work.ActionRepoLabels || a.Kind == work.ActionReaction
}

// Notices shows the state of items on GitHub. It needs all of this.
type Notices struct {
	store    *store.DB
	config   *config.Config
	secrets  *secrets.Redactor
	log      *slog.Logger
	now      func() time.Time
	accounts *env.Accounts // those that write for us
	speakers env.Speakers  // in whose name it speaks

	effects     func() *actions.Runner
	public      func(r *env.Repo, item work.Item, pull bool) explain.Place
	remoteByID  func(repo int64) *env.Repo
	shownAt     func(repo int64) *env.Repo
	halted      func(context.Context) (folder.Halt, bool)
	haltedBy    func(context.Context, func() (store.Fleet, error)) (folder.Halt, bool)
	tryNotices  func(context.Context, work.Repo) (unlock func(), ok bool, err error)
	stillSame   func(context.Context, *env.Repo, time.Duration) error
	contain     func(ctx context.Context, doing string, r *env.Repo, do func() error) error
	containRepo func(ctx context.Context, doing string, r *env.Repo, rep *env.Report, do func() error) error
	repoFailed  func(context.Context, *env.Repo, error, *env.Report)
}

// NewNotices returns the Notices of a pass that has begun.
func NewNotices(e *env.Env) *Notices {
	return &Notices{
		store: e.Store, config: e.Config, secrets: e.Secrets, log: e.Log, now: e.Now, accounts: &e.Accounts, speakers: env.Speakers{Env: e},
		effects: e.Effects, public: e.Public, remoteByID: e.RemoteByID, shownAt: e.ShownAt, halted: e.Halted, haltedBy: e.HaltedBy, tryNotices: e.TryNotices, stillSame: e.StillSame,
		contain: e.Contain, containRepo: e.ContainRepo, repoFailed: e.RepoFailed,
	}
}

// due reports whether an answer to a command may be sent: the actions that it reports on are
// settled. It returns and stores the answer with their results.
func (p *Notices) due(ctx context.Context, a work.Action) (work.Action, bool, error) {
	if !waitsForOthers(a) {
		return a, true, nil
	}
	var settled bool
	var body string
	err := p.store.View(ctx, func(tx *store.Tx) error {
		settled, body = true, a.Body
		for token := range strings.FieldsSeq(a.Base) {
			first, known, err := tx.GetAction(ctx, token)
			if err != nil {
				return err
			}
			if settled = settled && (!known || first.State.Settled()); known && settled {
				body = work.WithResult(body, first)
			}
		}
		return nil
	})
	if err != nil || !settled || body == a.Body {
		return a, settled, err
	}
	a.Body = body
	err = p.store.Update(ctx, func(tx *store.Tx) error { return tx.SetActionBody(ctx, a.ID, body) })
	return a, err == nil, err
}

// waitsForOthers reports whether a comment reports on other actions, whose tokens are in Base.
func waitsForOthers(a work.Action) bool { return a.Kind == work.ActionComment && a.Base != "" }

// sendsLeft reports whether a notice is also sent in a repository that the config no longer names.
func sendsLeft(a work.Action) bool { return a.Kind == work.ActionLabels }

// logRedirect logs a redirect that GitHub shows.
func (p *Notices) logRedirect(ctx context.Context, r *env.Repo, a work.Action) {
	if a.Target == "" || a.Token != work.RedirectToken(r.Row.Key(), a.Number, a.Target) {
		return
	}
	var pull work.PullRequest
	err := p.store.View(ctx, func(tx *store.Tx) (err error) {
		pull, _, err = tx.FindPullOfItem(ctx, a.ItemID)
		return err
	})
	id, parseErr := strconv.ParseInt(a.Target, 10, 64)
	if err != nil || parseErr != nil {
		return
	}
	p.log.InfoContext(ctx, "issue comment redirected", "repo_full_name", r.Name.FullName(), "work_item_id", a.ItemID, "issue_number", a.Number,
		"pr_number", pull.Number, "action_token", a.Token, "comment_id_from", id, "comment_id_to", id)
}

// Move moves an item and plans what GitHub shows of its new state. It returns store.ErrStale if the
// cause may not move the item from its current state.
func (p *Notices) Move(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error {
	from := work.StatesBefore(m.Cause, m.To)
	if len(from) == 0 {
		return fmt.Errorf("move item %d: nothing %s becomes %q", m.Item, m.Cause, m.To)
	}
	says := explain.Reason(m.Reason, explain.Place{Spending: true}).Here()
	return p.show(ctx, tx, m, now, func(tx *store.Tx) error { return tx.MoveItem(ctx, m.Item, from, m.To, m.Reason, says, now) })
}

// ContainItem contains what is done for an item outside of the plan and of turns. A panic stops the item; if
// it has none, or is over, its repository fails. A stopped item stays stopped if the same panics again.
func (p *Notices) ContainItem(ctx context.Context, doing string, r *env.Repo, id int64, rep *env.Report, do func() error) error {
	err := p.contain(ctx, doing, r, do)
	broken, ok := errors.AsType[*work.PanicError](err)
	if !ok {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	why, open, stopped := broken.Reason(), false, false
	failed := p.store.Update(ctx, func(tx *store.Tx) error {
		if open, stopped = false, false; id == 0 {
			return nil
		}
		item, err := tx.GetItem(ctx, id)
		if open, stopped = item.State.Open(), item.StoppedBy(why); err != nil || !open || stopped {
			return err
		}
		return p.Move(ctx, tx, work.Move{Item: id, Cause: work.CauseStopped, To: work.StateBlocked, Reason: why}, p.now())
	})
	switch {
	case failed != nil || !open:
		p.repoFailed(ctx, r, errors.Join(err, failed), rep)
	case !stopped:
		rep.Repo(p.config.Called(r.Name), func(x *env.RepoReport) {
			x.Warnings = append(x.Warnings, broken.Doing+": "+explain.What(why, explain.Place{}))
		})
	}
	return err
}

// warnMissingLabels adds a warning if GitHub does not let us create labels, so that the operator
// does. The warning appears once, because the action is dropped and never tried again.
func (p *Notices) warnMissingLabels(rep *env.Report, r *env.Repo, a work.Action, err error) {
	if a.Kind != work.ActionRepoLabels || !mustDrop(a, err) {
		return
	}
	if refused, ok := errors.AsType[*transport.Error](err); ok {
		err = refused // without the wrapping, as the text names the operation
	}
	names := strings.Split(a.Target, ",")
	why := fmt.Sprintf("the labels %s cannot be made: %v; make those that are missing yourself: gh label create %s --repo %s, and so on",
		strings.Join(names, ", "), err, names[0], p.config.Called(r.Name))
	rep.Repo(p.config.Called(r.Name), func(x *env.RepoReport) { x.Warnings = append(x.Warnings, why) })
}
