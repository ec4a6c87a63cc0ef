package comments

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// IntakeComments makes events of what people wrote on issues and pull requests
// that are tracked.
func (h *Comments) IntakeComments(ctx context.Context) error {
	h.known = lookups{}
	h.Events = slices.Grow(h.Events, len(h.ListedComments)+len(h.ReviewComments))
	for _, c := range h.ListedComments {
		if err := h.intakeComment(ctx, c); err != nil {
			return err
		}
	}
	for _, c := range h.ReviewComments {
		pull, tracked, err := h.Pull(ctx, c.Pull)
		if err != nil {
			return err
		}
		if tracked {
			h.Add(ReviewEvent(pull, c))
		} else {
			h.intakeStray(strayReview(c))
		}
	}
	return nil
}

func (h *Comments) intakeComment(ctx context.Context, c github.Comment) error {
	at, err := h.known.place(ctx, h.Batch, c.Number)
	switch {
	case err != nil:
		return err
	case at.kind != "":
		h.Add(CommentEvent(at.kind, at.item, c))
	default:
		h.intakeStray(CommentEvent(work.EventSource, 0, c))
	}
	return nil
}

// CommentEvent is the event of a comment on an issue or a pull request.
func CommentEvent(kind work.EventKind, itemID int64, c github.Comment) batch.Inbound {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	return batch.Inbound{Pull: kind == work.EventIssue, Node: c.NodeID, Event: work.Event{
		ItemID: itemID, Number: c.Number, Kind: kind, Source: id, Hash: hash, Key: work.EventKey(c.Number, kind, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

// ReviewEvent is the event of a comment on a diff.
func ReviewEvent(pull work.PullRequest, c github.ReviewComment) batch.Inbound {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	top := c.InReplyTo
	if top == 0 {
		top = c.ID
	}
	return batch.Inbound{Pull: true, Pending: c.Pending, Node: c.NodeID, Review: c.ReviewID, Event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventReview, Source: id, Hash: hash, Review: c.ReviewID,
		Key:    work.EventKey(pull.Number, work.EventReview, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, ThreadTop: top, Path: c.Path, Line: c.Line, DiffHunk: c.DiffHunk,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

// SummaryEvent is a review's own text and state. A review that only carries
// line comments, or an approval without a word, asks for nothing.
func SummaryEvent(pull work.PullRequest, r github.Review) (batch.Inbound, bool) {
	switch r.State {
	case "CHANGES_REQUESTED":
	case "COMMENTED", "APPROVED":
		if r.Body == "" {
			return batch.Inbound{}, false
		}
	default: // PENDING drafts do not exist for us; DISMISSED ones do not any more
		return batch.Inbound{}, false
	}
	id := strconv.FormatInt(r.ID, 10)
	hash := work.ContentHash(r.Body, r.State)
	return batch.Inbound{Pull: true, Node: r.NodeID, Event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventSummary, Source: id, Hash: hash,
		Key:    work.EventKey(pull.Number, work.EventSummary, id, hash),
		Author: r.Author, Body: work.Normalise(r.Body), State: r.State, URL: r.URL,
		CreatedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
	}}, true
}

// FilterEvents decides which of the candidates are new and whose word counts. What is
// known already costs no request.
func (h *Comments) FilterEvents(ctx context.Context) error {
	if len(h.Events) == 0 {
		return nil
	}
	h.known = lookups{}
	seen, err := h.stored(ctx)
	if err != nil {
		return err
	}
	several := severalVersions(h.Events)
	slices.SortStableFunc(h.Events, oldestFirst)
	slices.SortStableFunc(h.Events, commandsFirst) // they may have begun a pause
	ctx, reads := ahead.With(ctx, time.Minute)
	defer reads.Stop()
	asked := front{Comments: h, known: seen}
	fresh := make([]batch.Inbound, 0, len(h.Events))
	for _, c := range h.Events {
		asked.judges(ctx, c.Event.Author)
		if c.Pending {
			continue
		}
		if k, known := seen[c.Event.Key]; known {
			if !mayChange(k) && !several[versionOf(c.Event)] {
				continue
			}
			if err := h.readAgain(ctx, c, k.Outcome); err != nil {
				return err
			}
			continue
		}
		seen[c.Event.Key] = store.KnownEvent{}
		waits, err := h.waitsForPull(ctx, c)
		if waits {
			h.holdBack(c)
			continue
		}
		if err == nil && c.Event.Kind.Written() && c.Event.Outcome == "" {
			c.Event.Outcome, err = h.verdict(ctx, c.Event)
		}
		if err == nil && c.Event.Kind == work.EventReview && c.Event.Outcome == "" && c.Event.State == "" {
			c.Event.State, err = h.stateOf(ctx, c)
		}
		switch {
		case err != nil:
		case c.Event.Kind == work.EventCommand:
			c.Event.Outcome, err = h.commandVerdict(ctx, c.Event, c.Event.Outcome)
		case c.Event.Outcome == "":
			c.Event.Outcome, err = h.paused(ctx, c)
		}
		switch {
		case err == nil:
			fresh = append(fresh, c)
			continue
		case errors.Is(err, batch.ErrAskedEnough): // the others' are judged all the same
			h.Note = batch.MoreNext
		case batch.OutOfTime(err): // what needs no request is judged all the same
			h.StopReading(err)
		default:
			if err := h.DeferOne(err, "judge %s", c.Event.URL); err != nil {
				return err
			}
		}
		h.forget(c)
	}
	for i, c := range fresh {
		if h.Answered(c.Event.Key) && c.Event.Outcome == "" {
			fresh[i].Event.Outcome = work.OutcomeAnswered
		}
	}
	h.Events = slices.Clone(fresh)
	h.DropHalf()
	for _, c := range fresh {
		if h.Forgotten[c.Event.Number] {
			h.holdBack(c)
		}
	}
	return nil
}

// oldestFirst puts candidates in the order in which they happened. Stamps have
// one-second resolution; within a second GitHub's ids rise. Of two versions of
// one comment, read before and after an edit, the newer one comes last.
func oldestFirst(a, b batch.Inbound) int {
	if d := a.Event.CreatedAt.Compare(b.Event.CreatedAt); d != 0 {
		return d
	}
	if d := len(a.Event.Source) - len(b.Event.Source); d != 0 {
		return d
	}
	if d := strings.Compare(a.Event.Source, b.Event.Source); d != 0 {
		return d
	}
	return a.Event.UpdatedAt.Compare(b.Event.UpdatedAt)
}

func commandsFirst(a, b batch.Inbound) int {
	rank := func(c batch.Inbound) int {
		if c.Event.Kind == work.EventCommand {
			return 0
		}
		return 1
	}
	return rank(a) - rank(b)
}

// forget leaves the pull request of a candidate as it was, snapshot and events
// alike: a snapshot is only stored together with all that its details show. An
// issue that is new waits for all that was said on it, or its work would begin
// without; one that was found again does with its pull request. They are read again in
// the next pass.
func (h *Comments) forget(c batch.Inbound) {
	h.holdBack(c)
	n := c.Event.Number
	item, ok := h.Items[n]
	switch {
	case c.Pull:
		h.forgetPull(n)
	case ok && item.ID == 0 && item.State == work.StatePending:
		h.Forgotten[n], h.Backlog[n] = true, true
		delete(h.Items, n)
	case ok && item.ID == 0:
		for pull, issue := range h.Adopted {
			if issue == n {
				h.forgetPull(pull)
			}
		}
	}
}

func (h *Comments) forgetPull(number int) {
	h.Forgotten[number] = true
	if _, found := h.Adopted[number]; !found {
		h.LeftTracked[number] = true
	}
	delete(h.PullRows, number)
	delete(h.Threads, number)
}

// holdBack has the list that showed something show it again.
func (h *Comments) holdBack(c batch.Inbound) {
	e := c.Event
	kind := e.Kind
	if kind == work.EventCommand {
		kind = work.EventKind(e.State)
	}
	switch kind { //nolint:exhaustive // the others come from no list
	case work.EventIssue, work.EventSource:
		h.Hold(batch.WalkComments, &h.Repo.CommentsSince, h.R.Row.CommentsSince, e.UpdatedAt)
	case work.EventReview:
		h.Hold(batch.WalkReviewComments, &h.Repo.ReviewCommentsSince, h.R.Row.ReviewCommentsSince, e.UpdatedAt)
	}
}

// readAgain notes that a known event was read once more. An edit that a person
// took back while they had the item over is skipped like anything else.
func (h *Comments) readAgain(ctx context.Context, c batch.Inbound, outcome string) (err error) {
	if !c.Event.Kind.Written() {
		return nil
	}
	if outcome == store.OutcomeEdited && c.Event.Kind.Said() {
		c.Event.Outcome, err = h.paused(ctx, c)
	}
	if err == nil {
		h.Again = append(h.Again, c.Event)
		return nil
	}
	h.holdBack(c)
	if batch.OutOfTime(err) {
		h.StopReading(err)
		return nil
	}
	return h.DeferOne(err, "judge %s", c.Event.URL)
}

// stored finds the candidates that are in the database already, by key.
func (h *Comments) stored(ctx context.Context) (known map[string]store.KnownEvent, err error) {
	keys := make([]string, len(h.Events))
	for i, c := range h.Events {
		keys[i] = c.Event.Key
	}
	return known, h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		known, err = tx.ListKnown(ctx, h.Repo.ID, keys)
		return err
	})
}

// verdict says why an event is ignored; empty when it counts.
func (h *Comments) verdict(ctx context.Context, e work.Event) (string, error) {
	_, marked := work.ParseMarks(e.Body)
	own := slices.Contains(h.P.Accounts.Writers(h.R.Name.Host), e.Author.ID)
	if own {
		if edited, err := h.people.EditedByPerson(ctx, e); edited || err != nil {
			return work.OutcomeOwnEdited, err
		}
	}
	switch {
	case marked && own:
		pasted, err := h.lateCopy(ctx, e)
		if !pasted {
			h.NoteOwn(e)
			return work.OutcomeOwn, err
		}
	case marked:
		return work.OutcomeOthers, nil
	}
	if theirs, err := h.onTheirs(ctx, e); theirs || err != nil {
		return work.OutcomeTheirs, err
	}
	if e.Author.Bot {
		return "ignored: bot", nil
	}
	may, err := h.people.MayFeed(ctx, e)
	if may || err != nil {
		return "", err
	}
	if h.TakenOver[e.Author.ID] != 0 {
		return work.OutcomeTakenOver, nil
	}
	return work.OutcomeNoPermission, nil
}

// onTheirs reports whether something was said on somebody else's pull request, and not to
// us: it asks for no turn, and nobody's permission is asked for.
func (h *Comments) onTheirs(ctx context.Context, e work.Event) (bool, error) {
	if !e.Kind.Said() {
		return false, nil
	}
	return h.known.onTheirs(ctx, h.Batch, e.Number)
}

// stateOf is the state of the review that a comment on a diff came with: with an approval
// it asks for an answer, and for nothing that is pushed.
func (h *Comments) stateOf(ctx context.Context, c batch.Inbound) (string, error) {
	if c.Review == 0 {
		return "", nil
	}
	if state, known := h.ReviewStates[c.Review]; known {
		return state, nil
	}
	all, err := h.R.GitHub.Reviews(ctx, h.Repo.Current, c.Event.Number)
	if github.IsStatus(err, 404) {
		err = nil
	}
	for _, r := range all {
		h.ReviewStates[r.ID] = r.State
	}
	return h.ReviewStates[c.Review], err
}

// lateCopy plans the removal of further copies of a comment of ours that
// appeared. pasted says that the comment is none of them: a person copied one
// of ours, marker and all, and what they say is theirs.
func (h *Comments) lateCopy(ctx context.Context, e work.Event) (pasted bool, err error) {
	marks, _ := work.ParseMarks(e.Body)
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return false, nil
	}
	var a work.Action
	var known bool
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		a, known, err = tx.GetAction(ctx, marks.Token)
		return err
	})
	if err != nil || !known {
		return false, err
	}
	scope := actions.Scope{Repo: h.Repo, GitHub: h.R.GitHub, Accounts: h.P.Accounts.Writers(h.R.Name.Host)}
	extra, err := actions.Extra(ctx, scope, a)
	for _, id := range extra {
		h.Removals = append(h.Removals, actions.Removal(h.Repo, a, id, h.Now()))
	}
	first, parseErr := strconv.ParseInt(a.ResultID, 10, 64)
	later := parseErr == nil && id > first // a copy that came first is ours, shown late
	return err == nil && a.State == work.ActionApplied && later && !slices.Contains(extra, id), err
}
