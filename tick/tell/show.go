package tell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// GitHub shows an item's state by a label on its issue and pull request and, if it waits for a
// person, by one comment that is kept up to date. Both are rows that each move renews in its
// transaction. A state that is outdated before it was sent is never sent.

// Show plans what GitHub shows after a move.
func (p *Notices) Show(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error {
	return p.show(ctx, tx, m, now, func(*store.Tx) error { return nil })
}

// show moves an item, and plans what GitHub shows of that. It reads before it moves: on a server that is one question.
func (p *Notices) show(ctx context.Context, tx *store.Tx, m work.Move, now time.Time, move func(*store.Tx) error) error {
	return tx.Ahead(ctx, func(tx *store.Tx) error {
		s := Target{now: now, redact: p.secrets.Redact}
		var errs [3]error
		s.item, errs[0] = tx.GetItem(ctx, m.Item)
		s.pull, s.hasPull, errs[1] = tx.FindPullOfItem(ctx, m.Item)
		s.newest, errs[2] = tx.GetNewest(ctx, m.Item)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		if err := move(tx); err != nil {
			return err
		}
		if s.Remote = p.shownAt(s.item.RepoID); s.Remote == nil {
			return nil // no longer configured: nothing is changed
		}
		return p.showMoved(ctx, tx, s, m)
	})
}

func (p *Notices) showMoved(ctx context.Context, tx *store.Tx, s Target, m work.Move) error {
	if err := p.locate(ctx, tx, &s); err != nil {
		return err
	}
	if err := p.showStop(ctx, tx, s, m); err != nil {
		return fmt.Errorf("show why item %d is blocked: %w", s.item.ID, err)
	}
	if err := s.showLabels(ctx, tx, m); err != nil {
		return fmt.Errorf("show the state of item %d: %w", s.item.ID, err)
	}
	if s.hasPull && s.pull.State == work.PullOpen && m.To == work.StateAwaitingFeedback { // its reviews may continue
		return tx.MarkReviewsChanged(ctx, s.pull.ID)
	}
	return nil
}

// ShowRoadmap plans what the issue of a merged roadmap shows after the roadmap moved: its stop stands
// for a stop of its first work item, on which nothing more is worked.
func (p *Notices) ShowRoadmap(ctx context.Context, tx *store.Tx, r roadmap.Record, now time.Time) error {
	item, err := tx.GetItem(ctx, r.ItemID)
	if err != nil {
		return err
	}
	s := Target{item: item, Remote: p.shownAt(item.RepoID), now: now, redact: p.secrets.Redact, roadmap: true}
	if s.Remote == nil {
		return nil // no longer configured: nothing is changed
	}
	if s.newest, err = tx.GetNewest(ctx, item.ID); err != nil {
		return err
	}
	s.place = p.public(s.Remote, item, false)
	m := work.Move{Item: item.ID}
	m.To, m.Reason = r.Shows()
	if err := p.showStop(ctx, tx, s, m); err != nil {
		return fmt.Errorf("show why the roadmap of item %d is stopped: %w", item.ID, err)
	}
	if err := s.showLabels(ctx, tx, work.Move{Item: item.ID, To: item.State}); err != nil {
		return fmt.Errorf("show the state of the roadmap of item %d: %w", item.ID, err)
	}
	return nil
}

// locate loads the reviews of the item's pull request and the place of its conversation.
func (p *Notices) locate(ctx context.Context, tx *store.Tx, s *Target) (err error) {
	if s.hasPull {
		var stored store.Reviews
		stored, err = tx.GetReviews(ctx, s.pull.ID)
		s.reviews = stored.Record
	}
	s.place = p.public(s.Remote, s.item, s.hasPull && s.pull.State == work.PullOpen)
	return err
}

// Target is an item with where it is shown.
type Target struct {
	item    work.Item
	newest  work.Item // of its issue
	pull    work.PullRequest
	hasPull bool
	roadmap bool          // it stands for the merged roadmap of the item's issue
	reviews review.Record // of the pull request
	place   explain.Place
	Remote  *env.Repo
	now     time.Time
	redact  func(string) string
}

// workingAfter is how long a turn must run before GitHub shows it. Shorter turns are not worth the
// requests.
const workingAfter = 10 * time.Second

// PurposeStatus is the purpose of labels that show an item's state.
const PurposeStatus = "status"

// showLabels plans the label of the item's state on its pull request and on its issue. The issue is
// left out if a later item has it: after a merged design it shows the implementation.
func (s Target) showLabels(ctx context.Context, tx *store.Tx, m work.Move) error {
	issue, shown, err := s.onIssue(ctx, tx, m)
	if err != nil {
		return err
	}
	if shown {
		if err := s.showLabel(ctx, tx, issue, s.item.Number, statusOf(issue, s.Remote.Settings.Labels)); err != nil {
			return err
		}
	}
	if !s.hasPull {
		return nil
	}
	return s.showLabel(ctx, tx, m, s.pull.Number, statusOf(m, s.Remote.Settings.Labels))
}

// onIssue returns the state that the label on the item's issue shows. It is false if the issue shows another
// item. The issue of a merged roadmap shows the roadmap's state while the roadmap is stopped, and once it has
// ended. In between it shows the state of the pull request that changes the roadmap.
func (s Target) onIssue(ctx context.Context, tx *store.Tx, m work.Move) (work.Move, bool, error) {
	newest := s.newest
	if newest.Flow != work.FlowRoadmap {
		return m, newest.ID == s.item.ID, nil
	}
	if newest.ID != s.item.ID {
		m = work.Move{Item: newest.ID, To: newest.State}
	}
	r, known, err := tx.FindRoadmapOf(ctx, s.item.RepoID, s.item.Number)
	switch {
	case err != nil:
		return m, false, err
	case !known && m.To == work.StateMerged:
		m.To = work.StatePending // its roadmap is stored in this transaction
	case known && r.ItemID == newest.ID, known && r.ItemID == newest.Parent && (r.State == roadmap.Stopped || !m.To.Open()):
		m.To, m.Reason = r.Shows()
	case !known || r.ItemID != newest.Parent:
		return m, newest.ID == s.item.ID, nil
	}
	return m, true, nil
}

func (s Target) showLabel(ctx context.Context, tx *store.Tx, m work.Move, number int, wanted work.Labelling) error {
	a := wanted.Action(s.Remote.Row, s.item.ID, number, PurposeStatus)
	a.PlannedAt = s.now
	if m.To == work.StateRunning {
		a.NotBefore = s.now.Add(workingAfter)
	}
	if len(wanted.With) == 0 {
		before, known, err := tx.GetAction(ctx, a.Token)
		labels, read := m.Labels[number]
		switch {
		case err != nil || !known && !mayHaveLabel(m, number, wanted):
			return err
		case known && before.State == work.ActionPlanned && before.SentAt.IsZero() && read && wanted.Clean(labels):
			return tx.VoidUnsent(ctx, before.ID, "the state ended before its label was set", s.now)
		}
	}
	return tx.RenewAction(ctx, a)
}

// mayHaveLabel reports whether an issue or pull request may have a label that no action of this
// database set: the lost database set it, and the labels that this pass read do not exclude it.
func mayHaveLabel(m work.Move, number int, wanted work.Labelling) bool {
	labels, read := m.Labels[number]
	return m.Cause == work.CauseAdopted && (!read || !wanted.Clean(labels))
}

// statusOf returns which state labels to set and which to remove.
func statusOf(m work.Move, l work.Labels) work.Labelling {
	all := work.StatusLabels(l)
	with := -1
	switch {
	case m.NeedsPerson():
		with = 1
	case m.To == work.StateRunning:
		with = 0
	case m.To == work.StateMerged, m.To == work.StateCompleted:
		with = 2
	}
	var wanted work.Labelling
	for i, label := range all {
		if i == with {
			wanted.With = append(wanted.With, label)
		} else {
			wanted.Without = append(wanted.Without, label.Name)
		}
	}
	return wanted
}

// ShowWorking sends the notices of turns that have run for workingAfter, unless all end before.
func (p *Notices) ShowWorking(ctx context.Context, leases []*env.Lease, over <-chan struct{}, rep *env.Report) {
	if len(leases) == 0 {
		return
	}
	if !p.passed(ctx, workingAfter+time.Second, over) {
		return
	}
	shown := map[*env.Repo]bool{}
	var wg sync.WaitGroup
	for _, l := range leases {
		if !shown[l.Repo] {
			shown[l.Repo] = true
			wg.Go(func() { p.SendNotices(ctx, l.Repo, rep) })
		}
	}
	wg.Wait()
}

// passed waits for a time by the pass's clock; false: over or the context ended first.
func (p *Notices) passed(ctx context.Context, wait time.Duration, over <-chan struct{}) bool {
	end := p.now().Add(wait)
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for p.now().Before(end) {
		select {
		case <-over:
			return false
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	return true
}

// showStop plans the comment that says why the item is stopped.
func (p *Notices) showStop(ctx context.Context, tx *store.Tx, s Target, m work.Move) error {
	before, known, err := tx.FindStop(ctx, s.item.ID)
	if err != nil {
		return err
	}
	if !m.NeedsPerson() {
		if !known || s.lasts(before, m) {
			return nil
		}
		return p.endStop(ctx, tx, s, before, m)
	}
	stop := p.stopOf(s, m)
	if known {
		stop = stop.after(before)
		if before.Lasts() && before.Token != stop.Token {
			if err := p.endStop(ctx, tx, s, before, m); err != nil {
				return err
			}
		}
	}
	if err := tx.PutStop(ctx, stop.Stop); err != nil || m.CommentToken != "" {
		return err
	}
	text := s.stopText(stop.Stop)
	if explain.AfterOf(stop.Reason.Kind) == explain.IfNobodyCan {
		who, err := tx.ListWriters(ctx, s.item.RepoID, work.MostMentioned)
		if err != nil {
			return err
		}
		text = explain.Mention(who) + text
	}
	return tx.RenewAction(ctx, s.sticky(stop.Stop, text, s.marks(stop.Stop), ""))
}

// lasts reports whether the stop is one that the move does not end: one of the reviews, which continues
// while a turn answers people, or one of the roadmap, which only the roadmap ends, and nothing else.
func (s Target) lasts(stop work.Stop, m work.Move) bool {
	if s.roadmap != stop.Reason.Kind.StopsRoadmap() {
		return true
	}
	return !m.NeedsPerson() && m.To.Open() && s.reviews.State.Stopped() && stop.Reason.Same(s.reviews.Why.Map(s.redact))
}

// stopping is a stop that begins with this move.
type stopping struct {
	work.Stop
	hasComment bool // the turn's own comment reports it
}

func (p *Notices) stopOf(s Target, m work.Move) stopping {
	stop := work.Stop{
		ItemID: s.item.ID, Number: s.item.Number, Reason: m.Reason.Map(p.secrets.Redact),
		Attempts: 1, Since: s.now,
	}
	if s.hasPull && s.pull.State == work.PullOpen {
		stop.Number = s.pull.Number
	}
	stop.Token = cmp.Or(m.CommentToken, work.StopToken(s.Remote.Row.Key(), stop.Number, stop.Reason, m.Asked))
	return stopping{stop, m.CommentToken != ""}
}

// after returns the stop as it follows the item's earlier one: a repetition keeps its comment and
// counts, another stop has a new comment and counts from one.
func (s stopping) after(before work.Stop) stopping {
	same := before.Reason.Same(s.Reason) || before.Reason.Same(work.Marked(s.Reason)) // a marker has only the beginning of a long reason
	if before.Token != s.Token && (s.hasComment || before.Number != s.Number || !same) {
		return s
	}
	s.Token = before.Token
	if before.Attempts > 0 {
		s.Since, s.Attempts = before.Since, before.Attempts
		if !before.Lasts() {
			s.Attempts++
		}
	}
	return s
}

// endStop ends a stop and updates its comment.
func (p *Notices) endStop(ctx context.Context, tx *store.Tx, s Target, stop work.Stop, m work.Move) error {
	lasted := stop.Lasts()
	over := m.To != work.StateRunning && m.To != work.StatePending && m.To != work.StateReady
	stop.Taken = time.Time{}
	if lasted {
		stop.Ended = s.now
	}
	if over && !m.Passing {
		stop.Attempts = 0
	}
	if err := tx.PutStop(ctx, stop); err != nil || !lasted {
		return err
	}
	said, ok, err := tx.GetAction(ctx, stop.Token)
	if err != nil || !ok || said.Kind != work.ActionSticky {
		return err
	}
	return tx.RenewAction(ctx, s.sticky(stop, s.overText(stop, m), work.Marks{Token: stop.Token, Epoch: s.epoch()}, work.StickyEdit))
}

// marks returns the comment's markers while the stop lasts.
func (s Target) marks(stop work.Stop) work.Marks {
	return work.Marks{Token: stop.Token, Stop: work.MarkStop(stop), Epoch: s.epoch()}
}

// epoch returns how often people restarted the reviews, for passes without the database.
func (s Target) epoch() string {
	if s.reviews.Epoch == 0 {
		return ""
	}
	return strconv.Itoa(s.reviews.Epoch)
}

func (s Target) sticky(stop work.Stop, text string, m work.Marks, base string) work.Action {
	return work.Action{
		RepoID: s.item.RepoID, ItemID: s.item.ID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: stop.Token, State: work.ActionPlanned,
		Number: stop.Number, Body: s.Remote.Mark(text, m), Base: base, Why: "why it stopped", PlannedAt: s.now,
	}
}

// stopText returns the text of a stop comment. A question is answered with a comment; anything else
// can also be retried unchanged.
func (s Target) stopText(stop work.Stop) string {
	w := explain.Reason(stop.Reason, s.place)
	if stop.Reason.Kind == work.WhyQuestion {
		return fmt.Sprintf("**Question:** %s\n\nWork continues when somebody with write access answers here.\n\n- Since: %s\n\nThis comment is kept up to date.",
			public.InlineBody(stop.Reason.Text), since(stop))
	}
	said := "gh mergexo stopped here: " + work.Sentence(public.InlineBody(w.What))
	if stop.Reason.Kind.StopsRoadmap() {
		said = s.roadmapStopped(stop.Reason)
	}
	text := fmt.Sprintf("%s\n\n- Since: %s\n- Next step: %s.", said, since(stop), w.Next())
	if w.Retry {
		text += fmt.Sprintf("\n- Or, to retry unchanged: comment `/mergexo retry` here, or run `gh mergexo retry %s#%d` where it runs.",
			s.Remote.Name.FullName(), s.item.Number)
	}
	return text + "\n\nThis comment is kept up to date."
}

// roadmapStopped says why a roadmap is stopped, each fault of its document on a line of its own.
func (s Target) roadmapStopped(why work.Reason) string {
	clean := func(said string) string { return public.InlineBody(strings.Join(strings.Fields(said), " ")) }
	if why.Kind == work.WhyRoadmapRefused {
		return "The roadmap is stopped: a part of it could not be made.\n\n> " + clean(why.Text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The roadmap is stopped: its document, [%s](https://%s/blob/%s/%s), has faults, so nothing more of it is made.\n",
		path.Base(why.Name), s.Remote.Name, s.Remote.Row.DefaultBranch, why.Name)
	for _, fault := range why.Names {
		b.WriteString("\n- " + clean(fault))
	}
	return b.String()
}

// since returns since when a stop lasts and, if it is not the first for its reason, how often the item
// stopped: what the reason counts is something else.
func since(stop work.Stop) string {
	said := work.UTC(stop.Since)
	if stop.Attempts > 1 {
		said += fmt.Sprintf(", stopped for this %d times", stop.Attempts)
	}
	return said
}

// overText returns the text once the item resumes or ends.
func (s Target) overText(stop work.Stop, m work.Move) string {
	what := "Resumed"
	switch m.To {
	case work.StateMerged, work.StateCompleted:
		what = "Merged"
	case work.StateClosed:
		what = "Cancelled"
		if m.Cause == work.CausePullClosed {
			what = "Closed"
		}
	case work.StateBlocked, work.StateAwaitingIssueFollowup:
		if !m.Passing {
			what = "Stopped for another reason"
		}
	case work.StatePending, work.StateReady, work.StateRunning, work.StateAwaitingFeedback:
	}
	why := work.Sentence(public.InlineBody(explain.What(stop.Reason, s.place)))
	return fmt.Sprintf("**%s** %s. It had been stopped since %s: %s", what, work.UTC(s.now), work.UTC(stop.Since), why)
}

// pausedText returns the text while the item is paused: its next step is not for now.
func (s Target) pausedText(stop work.Stop, pause work.Pause) string {
	return fmt.Sprintf("**Paused** by %s since %s: no agent works on this, and comments made during the pause are never acted on. "+
		"To resume, comment `/mergexo resume` or remove the label `%s`. Then this applies again:\n\n%s",
		pause.By, work.UTC(pause.Began), s.place.Ignore, s.stopText(stop))
}

// resumedText returns the text after a pause. unheard counts the comments skipped in it.
func (s Target) resumedText(stop work.Stop, unheard int) string {
	switch unheard {
	case 0:
		return s.stopText(stop)
	case 1:
		return "**Resumed.** One comment made during the pause was not acted on: repeat what the agent should know.\n\n" + s.stopText(stop)
	}
	return fmt.Sprintf("**Resumed.** %d comments made during the pause were not acted on: repeat what the agent should know.\n\n%s", unheard, s.stopText(stop))
}

// While an item is paused, its stop comment must not ask for an answer that nothing will read. It
// says that the item is paused, and returns to its text on resume. The stop's row names the
// comment. If the database is lost, the next stop makes a new comment.

// ShowTakeover updates the stop comment when a pause begins or ends.
func (p *Notices) ShowTakeover(ctx context.Context, tx *store.Tx, h work.PauseBanner, now time.Time) error {
	stop, known, err := tx.FindStop(ctx, h.Stop.ItemID)
	if err != nil || !known {
		return err
	}
	began := stop.Taken
	stop.Taken = h.Pause.Began
	if err := tx.PutStop(ctx, stop); err != nil || !stop.Lasts() {
		return err
	}
	said, ok, err := tx.GetAction(ctx, stop.Token)
	if err != nil || !ok || said.Kind != work.ActionSticky {
		return err
	}
	s, err := p.target(ctx, tx, stop.ItemID, now)
	if err != nil {
		return err
	}
	text := s.pausedText(stop, h.Pause)
	if stop.Taken.IsZero() {
		unheard, err := countSkipped(ctx, tx, stop.ItemID, began)
		if err != nil {
			return err
		}
		text = s.resumedText(stop, unheard)
	}
	said.Body, said.Base, said.PlannedAt, said.NotBefore = s.Remote.Mark(text, s.marks(stop)), "", now, time.Time{}
	return tx.RenewAction(ctx, said)
}

// countSkipped counts comments on an item that were skipped since a pause began.
func countSkipped(ctx context.Context, tx *store.Tx, item int64, since time.Time) (int, error) {
	events, err := tx.ListItemEvents(ctx, item)
	n := 0
	for _, e := range events {
		if e.Outcome == work.OutcomePaused && e.Kind.IsComment() && !work.StampOf(e).Before(since) {
			n++
		}
	}
	return n, err
}

// target returns where an item is shown.
func (p *Notices) target(ctx context.Context, tx *store.Tx, id int64, now time.Time) (Target, error) {
	item, err := tx.GetItem(ctx, id)
	if err != nil {
		return Target{}, err
	}
	s := Target{item: item, Remote: p.remoteByID(item.RepoID), now: now, redact: p.secrets.Redact}
	if s.pull, s.hasPull, err = tx.FindPullOfItem(ctx, id); err != nil {
		return s, err
	}
	return s, p.locate(ctx, tx, &s)
}

// State labels and stop comments are planned by an item's moves. After the last move nothing plans
// them again, so those that GitHub refused are kept and tried again later.

// showAfter is the first wait before a dropped one is tried again, and showTries the number of
// tries: about a day and a half in all.
const (
	showAfter = time.Minute
	showTries = 40
)

// showsState reports whether an action shows an item's state.
func showsState(a work.Action) bool {
	return a.Kind == work.ActionLabels || a.Kind == work.ActionSticky || a.Kind == work.ActionStatus
}

// deferDropped schedules a dropped action for another try.
func (p *Notices) deferDropped(ctx context.Context, a work.Action) error {
	now := p.now()
	return p.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.DeferDropped(ctx, a.ID, func(dropped int) time.Time {
			if dropped > showTries {
				return time.Time{}
			}
			return now.Add(work.Backoff(showAfter, dropped))
		})
	})
}

// Waiting reports whether a repository has notices to send; true if that cannot be read. While everything is
// paused it has none.
func (p *Notices) Waiting(ctx context.Context, r *env.Repo) bool {
	if !r.Ready {
		return false
	}
	var fleet store.Fleet
	var dropped []int64
	var due []work.Action
	err := p.store.View(ctx, func(tx *store.Tx) (err error) {
		var errs [3]error
		fleet, errs[0] = tx.GetFleet(ctx)
		dropped, errs[1] = tx.ListDroppedDue(ctx, r.Row.ID, tx.Moment(p.now))
		due, errs[2] = p.readDue(ctx, tx, r)
		return errors.Join(errs[:]...)
	})
	_, halted := p.haltedBy(ctx, func() (store.Fleet, error) { return fleet, err })
	return !halted && (err != nil || len(due)+len(dropped) > 0)
}

// take takes over a repository's notices, and plans the dropped ones again that are due. It returns
// the context under whose claim they are sent, and those that are due: another pass may have sent some while
// this one took the lock.
func (p *Notices) take(ctx context.Context, r *env.Repo) (_ context.Context, due []work.Action, err error) {
	var claim store.Claim
	err = p.store.Update(ctx, func(tx *store.Tx) error {
		return tx.Ahead(ctx, func(tx *store.Tx) (err error) {
			ids, err := tx.ListDroppedDue(ctx, r.Row.ID, tx.Moment(p.now))
			if err != nil {
				return err
			}
			if due, err = p.readDue(ctx, tx, r); err != nil {
				return err
			}
			if claim, err = tx.TakeNotices(ctx, r.Row.ID); err != nil || len(ids) == 0 {
				return err
			}
			for _, id := range ids {
				if err := tx.ReplanDropped(ctx, id); err != nil {
					return err
				}
			}
			due, err = p.readDue(ctx, tx, r)
			return err
		})
	})
	return store.Under(ctx, claim), due, err
}
