package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
)

// lastLook checks right before an effect that it is still wanted.
type lastLook struct {
	*env.Env
	reader *ingest.Reader
}

// stored is what the database says of a turn at one moment.
type stored struct {
	repo    work.Repo
	item    work.Item
	events  []work.Event
	planned []work.Action
	fleet   store.Fleet
	pause   work.Pause
	paused  bool
}

// stored reads what other passes may have changed of a turn since its claim, and more in the same transaction.
func (p *lastLook) stored(ctx context.Context, l *env.Lease, more ...func(*store.Tx) error) (s stored, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var errs [6]error
		s.repo, errs[0] = tx.GetRepo(ctx, l.Repo.Row.ID)
		s.item, errs[1] = tx.GetItem(ctx, l.Item.ID)
		s.events, errs[2] = env.TurnEvents(ctx, tx, l.Turn)
		s.planned, errs[3] = tx.ListTurnActions(ctx, l.Turn.ID)
		s.fleet, errs[4] = tx.GetFleet(ctx)
		s.pause, s.paused, errs[5] = env.PauseOf(ctx, tx, l.Item)
		err := errors.Join(errs[:]...)
		for _, read := range more {
			err = errors.Join(err, read(tx))
		}
		return err
	})
	return s, err
}

// ReasonRepoRemoved is the reason for which wanted ends a turn whose repository was removed from the config.
const ReasonRepoRemoved = "its repository was taken out of the config"

// wanted fails if a turn is not wanted any more, by what the database says.
func (p *lastLook) wanted(ctx context.Context, l *env.Lease, more ...func(*store.Tx) error) (stored, error) {
	s, err := p.stored(ctx, l, more...)
	switch {
	case err != nil:
		return s, err
	case !s.repo.RemovedAt.IsZero():
		return s, &work.SupersededError{Reason: ReasonRepoRemoved}
	case !s.item.State.Open():
		return s, &work.CancelledError{Reason: "the work item is " + string(s.item.State)}
	}
	return s, p.notPaused(ctx, l, s)
}

// seen is what GitHub shows of a turn's issue and pull request.
type seen struct {
	issue    github.Issue
	hasIssue bool // GitHub shows it
	pull     work.PullRequest
	details  []github.PullDetail
	comments map[string]bool // whether GitHub shows a comment in the conversation, by event key
}

// read reads the current issue of a start. Of another turn it reads the pull request, the comments in
// its conversation, and before the first effect the issue.
func (p *lastLook) read(ctx context.Context, l *env.Lease) (s seen, err error) {
	repo, hub := l.Repo.Row.Current, l.Repo.GitHub
	readIssue := func(ctx context.Context) (err error) {
		if s.issue, s.hasIssue, err = hub.Issue(ctx, repo, l.Item.Number); err != nil {
			return fmt.Errorf("read the issue again: %w", err)
		}
		return nil
	}
	if l.Turn.Kind.Start() {
		err = readIssue(ctx)
		return s, err
	}
	if s.pull, err = p.ItemPull(ctx, l); err != nil {
		return s, err
	}
	reads := []func(context.Context) error{func(ctx context.Context) (err error) {
		if s.details, _, err = hub.Details(ctx, []string{s.pull.NodeID}); err != nil {
			return fmt.Errorf("read the pull request again: %w", err)
		}
		return nil
	}}
	if l.Turn.Step == work.StepClaimed || l.Turn.Step == work.StepAnswered {
		reads = append(reads, readIssue)
	}
	shown := make([]bool, len(l.Events))
	for i, e := range l.Events {
		if id, err := strconv.ParseInt(e.Source, 10, 64); err == nil && e.Kind == work.EventIssue {
			reads = append(reads, func(ctx context.Context) (err error) { _, shown[i], err = hub.Comment(ctx, repo, id); return err })
		}
	}
	err = firstOf(github.AtOnce(ctx, readsAtOnce, reads))
	s.comments = map[string]bool{}
	for i, e := range l.Events {
		s.comments[e.Key] = shown[i]
	}
	return s, err
}

// readsAtOnce is how many reads of a turn run at a time.
const readsAtOnce = 8

// firstOf returns the first error of reads that were sent together: the others often say the same.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// recheck checks that a turn is still wanted.
func (p *lastLook) recheck(ctx context.Context, l *env.Lease, s seen) error {
	if l.Turn.Kind.Start() {
		return p.checkIssue(ctx, l, s.issue, s.hasIssue)
	}
	if err := p.checkPull(ctx, l, s); err != nil {
		return err
	}
	if !s.hasIssue { // a deleted issue does not end its pull request
		return nil
	}
	return p.checkIgnoreLabel(ctx, l, s.issue.Number, s.issue.Labels, s.issue.UpdatedAt)
}

// checkIssue checks that a start turn's issue is open and has the label.
func (p *lastLook) checkIssue(ctx context.Context, l *env.Lease, is github.Issue, found bool) error {
	if !found { // a cancelled start is not repeated until somebody sets the label again
		if err := p.believe(l, work.Reason{Kind: work.WhyNotFound, Number: l.Item.Number}); err != nil {
			return err
		}
		return &work.CancelledError{Reason: "the issue was deleted or transferred"}
	}
	l.Turn.WaitReason = work.Reason{}
	switch {
	case is.State != "open":
		return &work.CancelledError{Reason: "the issue was closed"}
	case !work.HasLabel(is.Labels, l.Item.Label) && !l.Item.Replans(): // a merged roadmap needs none
		return &work.CancelledError{Reason: "the label was taken away"}
	case l.Turn.Step == work.StepClaimed && l.Turn.Runs == 0 && is.Blockers.Open > l.Item.Blocked.Open && !l.Item.Replans(): // no agent has worked yet
		if err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.LookAtBlockers(ctx, l.Item.ID, p.Now()) }); err != nil {
			return err
		}
		return &work.SupersededError{Reason: "another issue blocks it now"}
	}
	return p.checkIgnoreLabel(ctx, l, is.Number, is.Labels, is.UpdatedAt)
}

// believe returns nil if what GitHub does not find was missing settle_after ago, too. One such answer
// is no proof: before that the turn waits, and the next attempt asks again.
func (p *lastLook) believe(l *env.Lease, missing work.Reason) error {
	now, first := p.Now(), l.Turn.WaitReason
	if !first.Same(missing) {
		first = missing
		first.At = now.UnixMilli()
	} else if !now.Before(p.settled(first)) {
		return nil
	}
	return &work.WaitError{Until: p.settled(first), Reason: first}
}

// settled returns when settle_after has passed since a reason's time.
func (p *lastLook) settled(why work.Reason) time.Time {
	return time.UnixMilli(why.At).Add(p.Config.Runtime.SettleAfter)
}

// checkPull checks that the pull request is open, and voids the replies to comments that are gone.
func (p *lastLook) checkPull(ctx context.Context, l *env.Lease, s seen) error {
	if len(s.details) == 0 { // nobody can delete one: the turn is tried again, and its comments wait
		return fmt.Errorf("GitHub does not know pull request #%d at the moment", s.pull.Number)
	}
	d := s.details[0]
	if d.State != work.PullOpen {
		return &work.CancelledError{Reason: "the pull request was " + string(d.State)}
	}
	if l.Item.Flow == work.FlowReview && !work.HasLabel(d.Labels, l.Item.Label) {
		return &work.SupersededError{Reason: "the label was taken away"}
	}
	if err := p.checkIgnoreLabel(ctx, l, d.Number, d.Labels, d.UpdatedAt); err != nil {
		return err
	}
	if err := p.requireAlone(ctx, l, s.pull); err != nil {
		return err
	}
	l.Threads = map[int64]github.Thread{}
	for _, t := range d.Threads {
		l.Threads[t.Top] = t
	}
	return p.voidGone(ctx, l, d, s.comments)
}

// requireAlone supersedes a fix before its first effect if GitHub's own agent showed on its pull request while
// ours worked: what is to be fixed waits, as it does where that agent showed before. What passes have stored
// says so.
func (p *lastLook) requireAlone(ctx context.Context, l *env.Lease, pull work.PullRequest) error {
	if l.Turn.Kind != work.KindFix || l.Turn.Step != work.StepClaimed && l.Turn.Step != work.StepAnswered || !pull.Beside.Holds() {
		return nil
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	return &work.SupersededError{Reason: explain.What(pull.Beside.Reason(), explain.Place{Pull: true})}
}

// voidGone voids the replies to comments that were deleted or resolved. If no event is left and
// nothing was sent, the turn is cancelled.
func (p *lastLook) voidGone(ctx context.Context, l *env.Lease, d github.PullDetail, comments map[string]bool) error {
	left, gone := 0, map[string]string{} // by the event's key
	missing := work.Reason{Kind: work.WhyNotFound, Number: d.Number}
	for _, e := range l.Events {
		why, lost := whyGone(e, d, comments[e.Key])
		if why == "" {
			left++
			continue
		}
		gone[e.Key] = why
		if lost {
			missing.Names = append(missing.Names, e.Source)
		}
	}
	if len(missing.Names) > 0 {
		if err := p.believe(l, missing); err != nil {
			return err
		}
	}
	for _, e := range l.Events {
		if why := gone[e.Key]; why != "" {
			if err := p.voidReplies(ctx, l, e, why); err != nil {
				return err
			}
		}
	}
	if left > 0 || len(l.Events) == 0 {
		return nil
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	return &work.CancelledError{Reason: work.ReasonGone}
}

// whyGone returns why an event needs no answer, empty if it does, and whether the reason is that
// GitHub's answer is without its comment or review. shown says whether GitHub shows its comment in the
// conversation.
func whyGone(e work.Event, d github.PullDetail, shown bool) (why string, missing bool) {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return "", false // not a comment's
	}
	switch e.Kind {
	case work.EventReview:
		for _, t := range d.Threads {
			switch {
			case !slices.ContainsFunc(t.Comments, func(c github.ReviewComment) bool { return c.ID == id }):
			case t.Resolved:
				return "its thread was resolved", false
			default:
				return "", false
			}
		}
		return "the comment was deleted", true
	case work.EventIssue:
		if shown {
			return "", false
		}
		return "the comment was deleted", true
	case work.EventSummary:
		for _, r := range d.Reviews {
			if r.ID == id {
				return "", false
			}
		}
		return "the review was dismissed or deleted", true
	case work.EventSource, work.EventCheck, work.EventConflict, work.EventHead, work.EventMerged, work.EventClosed, work.EventReopened, work.EventLabelled, work.EventCommand,
		work.EventReviewDue, work.EventFixDue, work.EventReplan:
	}
	return "", false
}

func (p *lastLook) voidReplies(ctx context.Context, l *env.Lease, e work.Event, why string) error {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return err
	}
	for _, a := range planned {
		if a.Why != e.Key || a.State.Settled() {
			continue
		}
		if _, err := p.Effects().Void(ctx, a, why); err != nil {
			return err
		}
	}
	return nil
}

// requireConfirmed checks a start's issue right before its prompt is made, as the turn may have waited
// for a slot. It reads the issue again if the checkout took long. No agent is paid if the start is no
// longer wanted, or if a person must confirm the issue's edited text.
func (p *lastLook) requireConfirmed(ctx context.Context, l *env.Lease) error {
	if !l.Turn.Kind.Start() {
		return nil
	}
	is, found, err := p.issueOf(ctx, l)
	if err != nil {
		return err
	}
	if err := p.checkIssue(ctx, l, is, found); err != nil {
		return err
	}
	// Ingest's timeline may be older than the text.
	confirmed, edited, err := p.reader.Confirm(ctx, l.Repo, l.Item, is)
	if err != nil {
		return err
	}
	l.Item = confirmed
	if edited != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyIssueEdited, Text: edited}}
	}
	return nil
}

// issueOf returns the issue as this pass read it less than a minute ago, or reads it.
func (p *lastLook) issueOf(ctx context.Context, l *env.Lease) (is github.Issue, found bool, err error) {
	if p.Now().Sub(l.IssueAt).Abs() < env.SameFor {
		return l.Issue, true, nil
	}
	is, found, err = l.Repo.GitHub.Issue(ctx, l.Repo.Row.Current, l.Item.Number)
	if err == nil && found {
		l.Issue, l.IssueAt = is, p.Now()
	}
	return is, found, err
}

// requireTrusted ends a turn before its first effect if one of its events no longer counts: its author
// lost the permission to ask, somebody else edited it, or people hid it. The others make a new turn.
func (p *lastLook) requireTrusted(ctx context.Context, l *env.Lease) error {
	lost, begun, err := p.reader.Lost(ctx, l.Repo, l.Events)
	if err != nil || len(lost) == 0 {
		return err
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	if err := p.finishLost(ctx, lost); err != nil {
		return fmt.Errorf("end what %s asked for: %w", work.Authors(lost), err)
	}
	return noLonger(l, lost, begun)
}

func (p *lastLook) finishLost(ctx context.Context, lost []work.Event) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, e := range lost {
			if err := tx.FinishEvents(ctx, []int64{e.ID}, e.Outcome, p.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// noLonger returns the error that ends a turn some of whose events no longer count.
func noLonger(l *env.Lease, lost []work.Event, begun string) error {
	if begun != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyIssueEdited, Text: begun}}
	}
	reason := fmt.Sprintf("%s may not write to the repository any more", work.Authors(lost))
	if at := slices.IndexFunc(lost, func(e work.Event) bool { return work.ByWord(e.Outcome) }); at >= 0 {
		_, why, _ := strings.Cut(lost[at].Outcome, ": ")
		reason = fmt.Sprintf("a comment by %s does not count any more: %s", lost[at].Author.Login, why)
	}
	if len(lost) < len(l.Events) {
		return &work.SupersededError{Reason: reason}
	}
	return &work.CancelledError{Reason: reason}
}
