package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Each number of the backlog takes one way:
//
//  1. hear reads what was said on it since its last read.
//  2. take and readPull read it whole, into an issueRead or a pullRead, which does not change: the issue with
//     its timeline, the pull request with its details and what these ask for. Of one that ended before the
//     database knew it, only the end is read.
//  3. takeIssue and takePull note what that shows: items, snapshots and events.
//  4. judgeEvents decides which of the events count, by the pauses that the timelines show: these are stored first.
//  5. keep stores all of it, in one transaction that takes the number off the backlog.
//
// What belongs to one item, its issue and its pull request, does so together. A pass that dies or has no more
// time leaves the rest to the next one. A number that cannot be read stays, with the reason, and is tried again
// at growing intervals; until then no comment on its item counts, as it may have been made in a pause.

// number is an issue or a pull request of the backlog, and what the lists of this pass showed of it.
type number struct {
	store.Backlogged
	waits    bool // it could not be read, and it is not yet time to try again
	waited   bool // an earlier pass put it there
	fresh    bool // this pass found that it changed
	details  bool // the light query says that its details changed
	done     bool // it was read, or cannot be
	stays    bool // the next pass reads it again
	issue    *github.Issue
	comments []github.Comment
	lines    []github.ReviewComment
	unheard  bool               // more was said than comments and lines have
	asked    bool               // its details were asked for with those of others
	detail   *github.PullDetail // these, until they are used
}

// readUntil are the tenths of Timings.IngestTimeout after which nothing more is read: tick.lock is held,
// and what was read is still to be judged.
const readUntil = 9

// read finds what changed in the repository, and reads it. If the time runs out, what was read is kept.
func (h *reading) read(ctx context.Context) error {
	for _, n := range slices.Sorted(maps.Keys(h.numbers)) { // says what could not be read and waits
		if c := h.numbers[n]; c.waits {
			h.trouble = append(h.trouble, h.sayUnread(c))
		}
	}
	most, cancel := h.until(ctx, h.config.Runtime.IngestTimeout*readUntil/10)
	defer cancel()
	if err := h.findChanged(most); err != nil {
		return err
	}
	if err := h.recordReviewers(most, h.repo); err != nil {
		return err
	}
	h.noteNews(ctx)
	if err := h.identify(most); err != nil {
		return err
	}
	if err := h.storeChanged(ctx); err != nil {
		return err
	}
	if err := h.firstLook(ctx, most); err != nil {
		return err
	}
	if err := h.readBacklog(ctx, most); err != nil {
		return err
	}
	return h.finish(ctx, most)
}

// sortBacklog sorts the numbers: those tried longest ago first, and of an issue and its pull request the issue.
func (h *reading) sortBacklog() {
	h.next = sorted.Values(maps.Values(h.numbers), func(a, b *number) int {
		return cmp.Or(a.At.Compare(b.At), a.Number-b.Number)
	})
}

// readBacklog reads the numbers of the backlog, those of an item together, the issue first.
func (h *reading) readBacklog(ctx, most context.Context) error {
	h.sortBacklog()
	order := h.next
	for i, c := range order {
		if h.timeIsUp() {
			return nil
		}
		if c.done || c.waits {
			continue
		}
		h.next = order[i:]
		group, unread := []*number{c}, map[int]string{} // of those that wait, why they could not be read
		for _, n := range h.partnersOf(ctx, c.Number) {
			switch other, some := h.numbers[n]; {
			case !some || other == c || other.done:
			case other.waits:
				unread[n] = other.Why
			default:
				group = append(group, other)
			}
		}
		sorted.By(group, func(a, b *number) int { return a.Number - b.Number })
		if err := h.readGroup(ctx, most, group, unread); err != nil {
			return err
		}
	}
	return nil
}

// readGroup reads the numbers of an item and stores what is new. If one cannot be read, the others are
// all the same, and of that one what was said: a command may be the way out.
func (h *reading) readGroup(ctx, most context.Context, group []*number, unread map[int]string) error {
	for len(group) > 0 {
		h.unread = unread
		failed, err := h.takeGroup(ctx, most, group)
		if err == nil {
			h.readSome = true
			return h.keep(ctx, group, h.store)
		}
		h.slice = newSlice()
		if fatal := h.leave(ctx, most, failed, err); fatal != nil || h.timeIsUp() {
			return fatal
		}
		if _, again := unread[failed.Number]; again {
			group = slices.DeleteFunc(slices.Clone(group), func(c *number) bool { return c == failed })
		}
		unread[failed.Number] = err.Error()
	}
	return nil
}

// takeGroup reads the numbers of an item and judges what was said on them. It returns the one at which it failed.
// A panic stops that one number.
func (h *reading) takeGroup(ctx, most context.Context, group []*number) (failed *number, err error) {
	contain := func(doing string, c *number, do func() error) error {
		err := h.contain(ctx, doing+" "+work.Ref(h.repo.Name, c.Number), h.repo, do)
		return cmp.Or(h.broken, err) // an error of the database comes before what follows from it
	}
	for _, c := range group {
		if err := contain("read", c, func() error { return h.hear(most, c) }); err != nil {
			return c, err
		}
	}
	for _, c := range group {
		if err := contain("read", c, func() (err error) {
			if _, unread := h.unread[c.Number]; !unread {
				err = h.take(most, c)
			}
			h.takeTalk(most, c)
			return err
		}); err != nil {
			return c, err
		}
	}
	failed = group[0]
	err = contain("judge", failed, func() error {
		if err := h.storePauses(most); err != nil { // comments are judged by them
			return err
		}
		return h.judgeEvents(most)
	})
	if e, ok := errors.AsType[*unjudged](err); ok {
		if i := slices.IndexFunc(group, func(c *number) bool { return c.Number == e.number }); i >= 0 {
			failed = group[i]
		}
	}
	return failed, err
}

// hear reads what was said on a number since its last read, unless the lists of this pass have all of it. It
// comes before all else that is read of the item: a comment is judged by the pauses before it.
func (h *reading) hear(ctx context.Context, c *number) error {
	if !c.unheard {
		return nil
	}
	since := c.Since.Add(-time.Second) // GitHub does not document whether "since" includes its own second
	comments, err := h.commentsOf(ctx, c.Number, since)
	if err != nil && !github.IsStatus(err, 404, 410) { // else it is gone
		return err
	}
	_, tracked := h.pull(ctx, c.Number)
	var lines []github.ReviewComment
	if tracked || c.issue != nil && c.issue.IsPull {
		if lines, err = h.repo.GitHub.ReviewCommentsOf(ctx, h.row.Current, c.Number, since); err != nil && !github.IsStatus(err, 404, 410) {
			return err
		}
	}
	c.comments, c.lines, c.unheard = slices.Concat(comments, c.comments), slices.Concat(lines, c.lines), false
	return nil
}

// take ingests an issue or a pull request, and the pull requests of ours that it leads to and the database lacks.
func (h *reading) take(ctx context.Context, c *number) (err error) {
	pull, tracked := h.pull(ctx, c.Number)
	if !tracked && c.issue == nil && c.waited {
		is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, c.Number)
		if err != nil || !ok {
			return err // or it is gone
		}
		c.issue = &is
		h.noteChanged(is)
	}
	switch {
	case tracked:
		if h.noteListedPull(ctx, c, pull) {
			h.unreadPulls = append(h.unreadPulls, pullRead{old: pull})
		}
	case c.issue == nil: // nothing but comments
	case c.issue.IsPull:
		h.noteNearLabel(*c.issue, "")
		if err = h.adoptUnlisted(ctx, *c.issue); err == nil {
			err = h.beginReview(ctx, *c.issue)
		}
	default:
		if r := h.listedIssue(ctx, *c.issue); h.noteListedIssue(r) {
			if r.timeline, err = h.repo.GitHub.TimelineOf(ctx, h.row.Current, r.Number); err == nil {
				err = h.takeIssue(ctx, r)
			}
		}
	}
	for err == nil && len(h.unreadPulls) > 0 {
		r := h.unreadPulls[0]
		h.unreadPulls = h.unreadPulls[1:]
		if r, err = h.readPull(ctx, r); err == nil {
			err = h.takePull(ctx, r)
		}
	}
	return err
}

// noteListedPull notes what the list of issues shows of a tracked pull request, and reports whether that is to be
// read. One that is closed is if it changed since: the light query asks only about open ones, and one that was
// reopened may be merged already.
func (h *reading) noteListedPull(ctx context.Context, c *number, pull work.PullRequest) bool {
	changed := c.details || c.waited
	if is := c.issue; is != nil {
		h.noteAssigned(ctx, pull, *is)
		soon := pull.DetailsAt.Sub(pull.UpdatedAt) < overlap // two changes in one second share a stamp
		changed = changed || is.UpdatedAt.After(pull.UpdatedAt)
		if pull.State == work.PullClosed {
			changed = changed || is.State == "open" || soon && is.UpdatedAt.Equal(pull.UpdatedAt)
			h.lights[c.Number] = "changed" // differs from every fingerprint of a sweep
		}
	}
	return changed && pull.State != work.PullMerged
}

// takeTalk ingests what was said on a number. Where we do not work, only commands count.
func (h *reading) takeTalk(ctx context.Context, c *number) {
	pull, onPull := h.pull(ctx, c.Number)
	kind, item, tracked := work.EventIssue, pull.ItemID, onPull
	if !onPull {
		of, known := h.item(ctx, c.Number)
		kind, item, tracked, pull = work.EventSource, of.ID, known, work.PullRequest{Number: c.Number}
	}
	for _, said := range c.comments {
		if x := commentEvent(kind, item, said); tracked || work.AsCommand(x.event).Kind == work.EventCommand {
			h.add(x)
		}
	}
	for _, said := range c.lines {
		x := reviewEvent(pull, said)
		if x.pull = onPull; onPull || work.AsCommand(x.event).Kind == work.EventCommand {
			h.add(x)
		}
	}
}

// noteAssigned records whether Copilot is assigned to a listed pull request of ours.
func (h *reading) noteAssigned(ctx context.Context, pull work.PullRequest, is github.Issue) {
	assigned := slices.ContainsFunc(is.Assignees, func(a work.Account) bool { return work.IsCopilot(a.Login) })
	if assigned == pull.Beside.Assigned || pull.ID == 0 || h.itemOfPull(ctx, pull).Flow == work.FlowReview { // its author's agents are not our concern
		return
	}
	h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error {
		return tx.SetAssigned(ctx, pull.ID, assigned)
	})
}

// keep stores a slice, takes numbers off the backlog, and begins the next slice. Numbers of issues stay
// there until the end of the pass, with what depends on them.
func (h *reading) keep(ctx context.Context, group []*number, put func(context.Context, *store.Tx, time.Time) error) error {
	h.logQueued(ctx, "issue comments seen")
	now := h.now()
	err := h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := put(ctx, tx, now); err != nil {
			return err
		}
		return h.storeBacklog(ctx, tx, group)
	})
	if err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	if group == nil {
		h.row.HeartbeatAt = now
	}
	h.setRow(h.repo, h.row)
	h.logEvents(ctx)
	h.logQueued(ctx, "issue comments queued")
	for _, c := range group {
		c.done = true
	}
	h.added += len(h.newEvents)
	for _, e := range h.newEvents {
		if e.Outcome != "" {
			h.ignored++
		}
	}
	for n, news := range h.pulls {
		if news.read == nil {
			continue
		}
		if delete(h.openPulls, n); news.row.State == work.PullOpen {
			h.openPulls[n] = store.OpenPullOf(news.row)
		}
	}
	maps.Copy(h.answeredBefore, h.handled)
	h.slice = newSlice()
	return nil
}

// storeBacklog takes the numbers of a group off the backlog, but for what of them is left to the next pass.
func (h *reading) storeBacklog(ctx context.Context, tx *store.Tx, group []*number) (err error) {
	for n, b := range h.rest {
		h.numberOf(n).stays = true
		err = cmp.Or(err, tx.PutBacklog(ctx, h.row.ID, b))
	}
	for _, c := range group {
		switch {
		case err != nil || c.stays:
		case c.issue == nil:
			err = tx.DropBacklog(ctx, h.row.ID, c.Number)
		default:
			err = tx.MarkBacklogRead(ctx, h.row.ID, c.Number, h.mark)
		}
	}
	return err
}

// inPlanning runs a transaction that fails once another machine plans for the repository. It runs also
// after the time for GitHub is up: what was read is stored.
func (h *reading) inPlanning(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	if h.broken != nil {
		return h.broken
	}
	ctx = store.Under(context.WithoutCancel(ctx), h.repo.Planning())
	return h.db.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// logEvents writes a line for each new event, and a warning for those on which an operator may want to
// act.
func (h *reading) logEvents(ctx context.Context) {
	for _, c := range h.events {
		e := c.event
		h.log.InfoContext(ctx, "event", h.eventAttrs(c, "outcome", e.Outcome)...)
		switch e.Outcome {
		case work.OutcomeNoCommander:
			h.log.WarnContext(ctx, "a command was ignored: its author has no write permission", h.eventAttrs(c)...)
		case work.OutcomeTakenOver:
			h.log.WarnContext(ctx, "a login of the config is another account now; to accept it, write the value of entry there",
				h.eventAttrs(c, "account_id_before", h.rights.takenFrom(e.Author), "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID))...)
		case work.OutcomeEditedByOther:
			h.log.WarnContext(ctx, "a comment does not count: the last to edit it is not its author", h.eventAttrs(c, "editor", c.word.Editor.Login)...)
		case work.OutcomeOwnEdited:
			h.log.WarnContext(ctx, "somebody edited a comment of gh mergexo; it still does not count as feedback", h.eventAttrs(c)...)
		case work.OutcomeNoLabeller:
			h.log.WarnContext(ctx, "a label starts no work: the account that set it has no triage permission", h.eventAttrs(c, "label", e.State)...)
		}
	}
}

// leave has a number that could not be read stay in the backlog. It returns an error that is not of that
// number alone.
func (h *reading) leave(ctx, most context.Context, c *number, err error) error {
	c.done, c.stays = true, true
	up := timeUp(most, err)
	if up {
		h.stopReading(err)
	}
	switch {
	case up && !errors.Is(most.Err(), context.DeadlineExceeded):
		return nil // the rate limit
	case up && h.readSome:
		c.At = time.Time{} // the next pass begins with it
		return h.putOff(ctx, c)
	case up:
		err = fmt.Errorf("it has more to read than a pass has time for (%s), or GitHub answers slowly", h.config.Runtime.IngestTimeout)
	case !github.IsItemError(err) && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("read #%d: %w", c.Number, err)
	}
	c.Tries++
	c.Why, c.At = err.Error(), h.now()
	if c.Tries > 1 || up { // most failures are over in the next pass
		c.At = c.At.Add(min(work.Backoff(h.config.Runtime.RetryBase, c.Tries), work.LongestWait))
	}
	h.tellUnread(errors.New(h.sayUnread(c)))
	return h.putOff(ctx, c)
}

// timeUp reports whether an error means that the time of the pass or the rate limit is used up, and not only
// that GitHub did not answer one request.
func timeUp(most context.Context, err error) bool {
	_, limited := errors.AsType[*work.WaitError](err)
	return limited || most.Err() != nil && github.OutOfTime(err)
}

func (h *reading) putOff(ctx context.Context, c *number) error {
	return h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.PutBacklog(ctx, h.row.ID, c.Backlogged)
	})
}

// lasting is how often a number could not be read when the report of a pass names it.
const lasting = 3

// sayUnread says why a number cannot be read, and when it is tried again.
func (h *reading) sayUnread(c *number) string {
	said := fmt.Sprintf("#%d cannot be read: %s; tried %s, next try after %s", c.Number, c.Why, work.Count(c.Tries, "time"), work.Stamp(c.At))
	if c.Tries >= lasting {
		h.note = said
	}
	return said
}

// waits reports whether a number that could not be read is left for a later pass. A person who asks for this
// pass ends that.
func (h *reading) waits(b store.Backlogged) bool {
	return b.Tries > 0 && !h.atOnce && b.At.After(h.now()) && !env.Future(b.At, h.now(), work.LongestWait)
}

// again has a number read once more by the next pass.
func (h *reading) again(n int) { h.rest[n] = store.Backlogged{Number: n, At: h.now(), Again: true} }

// finish does the reads that come last and once per pass, and stores the end of the pass.
func (h *reading) finish(ctx, most context.Context) error {
	h.due = stored(ctx, h, h.loadDue)
	if !h.timeIsUp() {
		for _, read := range []func(context.Context) error{h.readMergeBoxes, h.readReviewers, h.readDesigns, h.readDependencies, h.readBlockers, h.readSubIssues} {
			if err := h.untilStopped(read(most)); err != nil {
				return err
			}
		}
	}
	for _, sift := range []func(context.Context) error{h.readHidden, h.askCommandersAgain} {
		if err := h.untilStopped(sift(ctx)); err != nil {
			return err
		}
	}
	return h.keep(ctx, nil, h.conclude)
}

// untilStopped ends reading when the time or the rate limit is used up, and returns any other error.
func (h *reading) untilStopped(err error) error {
	if github.OutOfTime(err) {
		h.stopReading(err)
		return nil
	}
	return err
}

// issueOf returns an issue as this pass has read it, or reads it; without number: it is gone.
func (h *reading) issueOf(ctx context.Context, number int) (github.Issue, error) {
	if is, ok := h.readNow(number); ok {
		return is, nil
	}
	is, _, err := h.repo.GitHub.Issue(ctx, h.row.Current, number)
	return is, err
}

// readNow returns an issue of the backlog as this pass has read it.
func (h *reading) readNow(number int) (is github.Issue, ok bool) {
	if c := h.numbers[number]; c != nil && c.issue != nil {
		return *c.issue, true
	}
	return is, false
}
