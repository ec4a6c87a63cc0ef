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
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Each number of the backlog is read whole: the issue or the details of the pull request, its timeline, and
// what was said on it. What belongs to one item, its issue and its pull request, is read, judged and stored
// together, in one transaction that takes the numbers off the backlog. A pass that dies or has no more time
// leaves the rest to the next one. A number that cannot be read stays, with the reason, and is tried again
// at growing intervals; until then no comment on its item counts, as it may have been made in a pause.

// number is an issue or a pull request of the backlog, and what the lists of this pass showed of it.
type number struct {
	store.Backlogged
	waits    bool // it could not be read, and it is not yet time to try again
	waited   bool // an earlier pass put it there
	fresh    bool // this pass found that it changed
	details  bool // the light query says that its details changed
	ahead    bool // what is read first of it was asked for: timeline or detail, until it is used
	done     bool // it was read, or cannot be
	stays    bool // the next pass reads it again
	issue    *github.Issue
	comments []github.Comment
	lines    []github.ReviewComment
	unheard  bool // more was said than comments and lines have
	timeline *[]github.TimelineEvent
	detail   *github.PullDetail
}

// readUntil are the tenths of Timings.IngestTimeout after which nothing more is read: tick.lock is held,
// and what was read is still to be judged.
const readUntil = 9

// read finds what changed in the repository, and reads it. If the time runs out, what was read is kept.
func (h *reading) read(ctx context.Context) error {
	for _, n := range sortedKeys(h.numbers) { // says what could not be read and waits
		if c := h.numbers[n]; c.waits {
			h.trouble = append(h.trouble, h.sayUnread(c))
		}
	}
	most, cancel := h.ingest.until(ctx, h.env.Config.Runtime.IngestTimeout*readUntil/10)
	defer cancel()
	if err := h.findChanged(most); err != nil {
		return err
	}
	if err := (env.Speakers{Env: h.env}).RecordReviewers(most, h.repo); err != nil {
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
	h.next = slices.SortedFunc(maps.Values(h.numbers), func(a, b *number) int {
		return cmp.Or(a.At.Compare(b.At), a.Number-b.Number)
	})
}

// readBacklog reads the numbers of the backlog.
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
		group, unread := h.groupOf(ctx, c)
		if err := h.readGroup(ctx, most, group, unread); err != nil {
			return err
		}
	}
	return nil
}

// groupOf returns the numbers that belong to the item of one, the issue first: those to be read, and the
// errors of those that wait.
func (h *reading) groupOf(ctx context.Context, c *number) (group []*number, unread map[int]string) {
	group, unread = []*number{c}, map[int]string{}
	for _, n := range h.partnersOf(ctx, c.Number) {
		switch other, some := h.numbers[n]; {
		case !some || other == c || other.done:
		case other.waits:
			unread[n] = other.Why
		default:
			group = append(group, other)
		}
	}
	slices.SortFunc(group, func(a, b *number) int { return a.Number - b.Number })
	return group, unread
}

// readGroup reads the numbers of an item and stores what is new. If one cannot be read, the others are
// all the same, and of that one what was said: a command may be the way out.
func (h *reading) readGroup(ctx, most context.Context, group []*number, unread map[int]string) error {
	h.readAhead(ctx, most)
	h.unread = unread
	failed, err := h.intakeGroup(ctx, most, group)
	if err == nil {
		err = h.contain(ctx, "judge", group[0], func() error { return h.judge(most) })
		failed = numberOfJudged(group, err)
	}
	if err != nil {
		h.slice = newSlice()
		if fatal := h.leave(ctx, most, failed, err); fatal != nil || h.timeIsUp() {
			return fatal
		}
		if _, again := unread[failed.Number]; again {
			group = slices.DeleteFunc(slices.Clone(group), func(c *number) bool { return c == failed })
		}
		if unread[failed.Number] = err.Error(); len(group) == 0 {
			return nil
		}
		return h.readGroup(ctx, most, group, unread)
	}
	h.readSome = true
	return h.keep(ctx, group, h.store)
}

// timeUp reports whether an error means that the time of the pass or the rate limit is used up, and not only
// that GitHub did not answer one request.
func timeUp(most context.Context, err error) bool {
	_, limited := errors.AsType[*work.WaitError](err)
	return limited || most.Err() != nil && github.OutOfTime(err)
}

// intakeGroup ingests the numbers of an item; of those that cannot be read, what was said. It returns the one
// at which it failed.
func (h *reading) intakeGroup(ctx, most context.Context, group []*number) (failed *number, err error) {
	for _, c := range group {
		if err := h.contain(ctx, "read", c, func() error { return h.hear(most, c) }); err != nil {
			return c, err
		}
	}
	for _, c := range group {
		if err := h.contain(ctx, "read", c, func() (err error) {
			if _, unread := h.unread[c.Number]; !unread {
				err = h.intakeNumber(most, c)
			}
			h.intakeTalk(most, c)
			return err
		}); err != nil {
			return c, err
		}
	}
	return nil, nil
}

// contain has a panic stop one number. An error of the database comes before what follows from it.
func (h *reading) contain(ctx context.Context, doing string, c *number, do func() error) error {
	err := h.env.Contain(ctx, doing+" "+work.Ref(h.repo.Name, c.Number), h.repo, do)
	return cmp.Or(h.broken, err)
}

// numberOfJudged returns the number of a group on which something could not be judged.
func numberOfJudged(group []*number, err error) *number {
	if e, ok := errors.AsType[*unjudged](err); ok {
		if i := slices.IndexFunc(group, func(c *number) bool { return c.Number == e.number }); i >= 0 {
			return group[i]
		}
	}
	return group[0]
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
		err = fmt.Errorf("it has more to read than a pass has time for (%s), or GitHub answers slowly", h.env.Config.Runtime.IngestTimeout)
	case !github.IsItemError(err) && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("read #%d: %w", c.Number, err)
	}
	c.Tries++
	c.Why, c.At = err.Error(), h.now()
	if c.Tries > 1 || up { // most failures are over in the next pass
		c.At = c.At.Add(min(work.Backoff(h.env.Config.Runtime.RetryBase, c.Tries), work.LongestWait))
	}
	h.tellUnread(errors.New(h.sayUnread(c)))
	return h.putOff(ctx, c)
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
	return b.Tries > 0 && !h.env.AtOnce && b.At.After(h.now()) && !env.Future(b.At, h.now(), work.LongestWait)
}

// numberOf returns a number of the backlog; it is added if it is not there.
func (h *reading) numberOf(n int) *number {
	c, some := h.numbers[n]
	if !some {
		c = &number{Backlogged: store.Backlogged{Number: n, At: h.began}}
		h.numbers[n] = c
	}
	return c
}

// again has a number read once more by the next pass.
func (h *reading) again(n int) { h.later[n] = true }

// mostHeard is how many comments of the lists are kept until their numbers are read. Of the other numbers
// the comments are read then.
const mostHeard = 2000

// noteListed notes what a list shows.
func (h *reading) noteListed(it listedItem) {
	c := h.numberOf(it.number)
	c.fresh = true
	if it.issue != nil {
		if c.issue == nil || !it.issue.UpdatedAt.Before(c.issue.UpdatedAt) {
			c.issue = it.issue
		}
		h.noteChanged(*it.issue)
		return
	}
	if c.Since.IsZero() || it.changed.Before(c.Since) {
		c.Since = it.changed
	}
	h.changed[it.number] = true
	switch h.heard++; {
	case h.heard > mostHeard:
		c.unheard = true
	case it.comment != nil:
		c.comments = append(c.comments, *it.comment)
	default:
		c.lines = append(c.lines, *it.line)
	}
}

// noteChanged notes a changed issue for what depends on it.
func (h *reading) noteChanged(is github.Issue) {
	h.changed[is.Number] = true
	news := h.numberOf(is.Number).waited || is.ClosedAt.After(h.repo.Row.HeartbeatAt.Add(-stampLag)) // lists show it for the overlap
	h.pullEnded = h.pullEnded || is.IsPull && is.State != "open" && news
}

// intakeNumber ingests an issue or a pull request.
func (h *reading) intakeNumber(ctx context.Context, c *number) (err error) {
	if pull, tracked := h.pull(ctx, c.Number); tracked {
		err = h.intakeTracked(ctx, c, pull)
	} else {
		err = h.intakeOther(ctx, c)
	}
	if err != nil {
		return err
	}
	for _, n := range sortedKeys(h.adopted) {
		if _, read := h.readPull(n); !read {
			if err := h.readDetails(ctx, h.newsOf(n).row); err != nil {
				return err
			}
		}
	}
	return nil
}

// intakeTracked ingests a tracked pull request. One that is closed is read if it changed since: the light
// query asks only about open ones, and one that was reopened may be merged already.
func (h *reading) intakeTracked(ctx context.Context, c *number, pull work.PullRequest) error {
	changed := c.details || c.waited
	if c.issue != nil {
		h.noteAssigned(ctx, pull, *c.issue)
		soon := pull.DetailsAt.Sub(pull.UpdatedAt) < overlap // two changes in one second share a stamp
		if changed = changed || c.issue.UpdatedAt.After(pull.UpdatedAt) || pull.State == work.PullClosed && (c.issue.State == "open" || soon && c.issue.UpdatedAt.Equal(pull.UpdatedAt)); pull.State == work.PullClosed {
			h.lights[c.Number] = "changed" // differs from every fingerprint of a sweep
		}
	}
	if !changed || pull.State == work.PullMerged {
		return nil
	}
	return h.readDetails(ctx, pull)
}

// intakeOther ingests an issue, or a pull request that is not tracked.
func (h *reading) intakeOther(ctx context.Context, c *number) error {
	if c.issue == nil && !c.waited {
		return nil // nothing but comments
	}
	if c.issue == nil {
		is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, c.Number)
		if err != nil || !ok {
			return err // or it is gone
		}
		c.issue = &is
		h.noteChanged(is)
	}
	h.noteNearLabel(*c.issue)
	if !c.issue.IsPull {
		return h.intakeIssue(ctx, c)
	}
	if err := h.adoptUnlisted(ctx, *c.issue); err != nil {
		return err
	}
	return h.beginReview(ctx, *c.issue)
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

// intakeTalk ingests what was said on a number. Where we do not work, only commands count.
func (h *reading) intakeTalk(ctx context.Context, c *number) {
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

// judge decides what of a slice counts.
func (h *reading) judge(ctx context.Context) error {
	if err := h.storePauses(ctx); err != nil {
		return err
	}
	return h.judgeEvents(ctx)
}

// finish does the reads that come last and once per pass, and stores the end of the pass.
func (h *reading) finish(ctx, most context.Context) error {
	h.due = stored(ctx, h, h.loadDue)
	if !h.timeIsUp() {
		for _, read := range []func(context.Context) error{h.readMergeBoxes, h.readReviewers, h.readDesigns, h.readDependencies, h.readBlockers, h.readSubIssues, h.readAgentMerge} {
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

// keep stores a slice, takes numbers off the backlog, and begins the next slice. Numbers of issues stay
// there until the end of the pass, with what depends on them.
func (h *reading) keep(ctx context.Context, group []*number, put func(context.Context, *store.Tx, time.Time) error) error {
	h.logQueued(ctx, "issue comments seen")
	now := h.now()
	err := h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := put(ctx, tx, now); err != nil {
			return err
		}
		return h.storeBacklog(ctx, tx, group, now)
	})
	if err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	if group == nil {
		h.row.HeartbeatAt = now
	}
	h.ingest.setRepo(h.repo, h.row)
	h.log(ctx)
	h.logQueued(ctx, "issue comments queued")
	for _, c := range group {
		c.done = true
	}
	h.nextSlice()
	return nil
}

// storeBacklog takes the numbers of a group off the backlog, but for what of them waits.
func (h *reading) storeBacklog(ctx context.Context, tx *store.Tx, group []*number, now time.Time) error {
	for _, c := range group {
		if _, left := h.left[c.Number]; left || c.stays {
			continue
		}
		var err error
		if c.issue == nil {
			err = tx.DropBacklog(ctx, h.row.ID, c.Number)
		} else {
			err = tx.MarkBacklogRead(ctx, h.row.ID, c.Number, h.mark)
		}
		if err != nil {
			return err
		}
	}
	for n, why := range h.left {
		c := h.numberOf(n)
		if !c.stays { // it was read itself
			c.Why, c.stays = why, true
		}
		if err := tx.PutBacklog(ctx, h.row.ID, c.Backlogged); err != nil {
			return err
		}
		delete(h.later, n)
	}
	for n := range h.later {
		h.numberOf(n).stays = true
		if err := tx.PutBacklog(ctx, h.row.ID, store.Backlogged{Number: n, At: now, Again: true}); err != nil {
			return err
		}
	}
	return nil
}

// inPlanning runs a transaction that fails once another machine plans for the repository. It runs also
// after the time for GitHub is up: what was read is stored.
func (h *reading) inPlanning(ctx context.Context, write func(context.Context, *store.Tx) error) error {
	if h.broken != nil {
		return h.broken
	}
	ctx = store.Under(context.WithoutCancel(ctx), h.repo.Planning())
	return h.env.Store.Update(ctx, func(tx *store.Tx) error { return write(ctx, tx) })
}

// log writes a line for each new event, and a warning for those on which an operator may want to
// act.
func (h *reading) log(ctx context.Context) {
	for _, c := range h.events {
		e := c.event
		h.env.Log.InfoContext(ctx, "event", h.eventAttrs(c, "outcome", e.Outcome)...)
		switch e.Outcome {
		case work.OutcomeNoCommander:
			h.env.Log.WarnContext(ctx, "a command was ignored: its author has no write permission", h.eventAttrs(c)...)
		case work.OutcomeTakenOver:
			h.env.Log.WarnContext(ctx, "a login of the config is another account now; to accept it, write the value of entry there",
				h.eventAttrs(c, "account_id_before", h.permissions.takenFrom(e.Author), "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID))...)
		case work.OutcomeEditedByOther:
			h.env.Log.WarnContext(ctx, "a comment does not count: the last to edit it is not its author", h.eventAttrs(c, "editor", c.word.Editor.Login)...)
		case work.OutcomeOwnEdited:
			h.env.Log.WarnContext(ctx, "somebody edited a comment of gh mergexo; it still does not count as feedback", h.eventAttrs(c)...)
		case work.OutcomeNoLabeller:
			h.env.Log.WarnContext(ctx, "a label starts no work: the account that set it has no triage permission", h.eventAttrs(c, "label", e.State)...)
		}
	}
}

// issueOf returns an issue as this pass has read it, or reads it.
func (h *reading) issueOf(ctx context.Context, number int) (github.Issue, bool, error) {
	if is, ok := h.readNow(number); ok {
		return is, true, nil
	}
	return h.repo.GitHub.Issue(ctx, h.row.Current, number)
}

// readNow returns an issue of the backlog as this pass has read it.
func (h *reading) readNow(number int) (is github.Issue, ok bool) {
	if c := h.numbers[number]; c != nil && c.issue != nil {
		return *c.issue, true
	}
	return is, false
}
