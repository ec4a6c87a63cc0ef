package tick

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// intakeComments makes events of what people wrote on issues and pull requests
// that are tracked.
func (h *Comments) intakeComments(ctx context.Context) error {
	for _, c := range h.listedComments {
		if err := h.intakeComment(ctx, c); err != nil {
			return err
		}
	}
	for _, c := range h.reviewComments {
		pull, tracked, err := h.pull(ctx, c.Pull)
		if err != nil {
			return err
		}
		if tracked {
			h.add(reviewEvent(pull, c))
		} else {
			h.intakeStray(strayReview(c))
		}
	}
	return nil
}

func (h *Comments) intakeComment(ctx context.Context, c github.Comment) error {
	pull, tracked, err := h.pull(ctx, c.Number)
	if err != nil {
		return err
	}
	if tracked {
		h.add(commentEvent(work.EventIssue, pull.ItemID, c))
		return nil
	}
	item, tracked, err := h.item(ctx, c.Number)
	switch {
	case err != nil:
		return err
	case tracked:
		h.add(commentEvent(work.EventSource, item.ID, c))
	default:
		h.intakeStray(commentEvent(work.EventSource, 0, c))
	}
	return nil
}

func commentEvent(kind work.EventKind, itemID int64, c github.Comment) candidate {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	return candidate{pull: kind == work.EventIssue, node: c.NodeID, event: work.Event{
		ItemID: itemID, Number: c.Number, Kind: kind, Source: id, Hash: hash, Key: work.EventKey(c.Number, kind, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

func reviewEvent(pull work.PullRequest, c github.ReviewComment) candidate {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	top := c.InReplyTo
	if top == 0 {
		top = c.ID
	}
	return candidate{pull: true, pending: c.Pending, node: c.NodeID, review: c.ReviewID, event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventReview, Source: id, Hash: hash,
		Key:    work.EventKey(pull.Number, work.EventReview, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, ThreadTop: top, Path: c.Path, Line: c.Line, DiffHunk: c.DiffHunk,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

// summaryEvent is a review's own text and state. A review that only carries
// line comments, or an approval without a word, asks for nothing.
func summaryEvent(pull work.PullRequest, r github.Review) (candidate, bool) {
	switch r.State {
	case "CHANGES_REQUESTED":
	case "COMMENTED", "APPROVED":
		if r.Body == "" {
			return candidate{}, false
		}
	default: // PENDING drafts do not exist for us; DISMISSED ones do not any more
		return candidate{}, false
	}
	id := strconv.FormatInt(r.ID, 10)
	hash := work.ContentHash(r.Body, r.State)
	return candidate{pull: true, node: r.NodeID, event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventSummary, Source: id, Hash: hash,
		Key:    work.EventKey(pull.Number, work.EventSummary, id, hash),
		Author: r.Author, Body: work.Normalise(r.Body), State: r.State, URL: r.URL,
		CreatedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
	}}, true
}

// judge decides which of the candidates are new and whose word counts. What is
// known already costs no request.
func (h *Comments) judge(ctx context.Context) error {
	if len(h.events) == 0 {
		return nil
	}
	seen, err := h.stored(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(h.events, oldestFirst)
	slices.SortStableFunc(h.events, commandsFirst) // they may have begun a pause
	var fresh []candidate
	for _, c := range h.events {
		if c.pending {
			continue
		}
		if outcome, known := seen[c.event.Key]; known {
			if err := h.readAgain(ctx, c, outcome); err != nil {
				return err
			}
			continue
		}
		seen[c.event.Key] = ""
		waits, err := h.untold(ctx, c)
		if waits {
			h.holdBack(c)
			continue
		}
		if err == nil && c.event.Kind.Written() {
			c.event.Outcome, err = h.verdict(ctx, c.event)
		}
		switch {
		case err != nil:
		case c.event.Kind == work.EventCommand:
			c.event.Outcome, err = h.commandVerdict(ctx, c.event, c.event.Outcome)
		case c.event.Outcome == "":
			c.event.Outcome, err = h.paused(ctx, c)
		}
		switch {
		case err == nil:
			fresh = append(fresh, c)
			continue
		case errors.Is(err, errAskedEnough): // the others' are judged all the same
			h.note = moreNext
		case late(err): // what needs no request is judged all the same
			h.cut(err)
		default:
			if err := h.isolate(err, "judge %s", c.event.URL); err != nil {
				return err
			}
		}
		h.forget(c)
	}
	for i, c := range fresh {
		if h.handled[c.event.Key] && c.event.Outcome == "" {
			fresh[i].event.Outcome = work.OutcomeAnswered
		}
	}
	h.events = slices.Clone(fresh)
	h.dropHalf()
	for _, c := range fresh {
		if h.forgotten[c.event.Number] {
			h.holdBack(c)
		}
	}
	return nil
}

// oldestFirst puts candidates in the order in which they happened. Stamps have
// one-second resolution; within a second GitHub's ids rise. Of two versions of
// one comment, read before and after an edit, the newer one comes last.
func oldestFirst(a, b candidate) int {
	if d := a.event.CreatedAt.Compare(b.event.CreatedAt); d != 0 {
		return d
	}
	if d := len(a.event.Source) - len(b.event.Source); d != 0 {
		return d
	}
	if d := strings.Compare(a.event.Source, b.event.Source); d != 0 {
		return d
	}
	return a.event.UpdatedAt.Compare(b.event.UpdatedAt)
}

func commandsFirst(a, b candidate) int {
	rank := func(c candidate) int {
		if c.event.Kind == work.EventCommand {
			return 0
		}
		return 1
	}
	return rank(a) - rank(b)
}

// forget leaves the pull request of a candidate as it was, snapshot and events
// alike: a snapshot is only stored together with all that its details show. An
// issue that is new waits for all that was said on it, or its work would begin
// without. They are read again in the next pass.
func (h *Comments) forget(c candidate) {
	h.holdBack(c)
	n := c.event.Number
	item, ok := h.items[n]
	switch {
	case c.pull:
		h.forgotten[n] = true
		delete(h.pullRows, n)
		delete(h.threads, n)
	case ok && item.ID == 0 && item.State == work.StatePending:
		h.forgotten[n], h.backlog[n] = true, true
		delete(h.items, n)
	}
}

// holdBack has the list that showed something show it again.
func (h *Comments) holdBack(c candidate) {
	e := c.event
	kind := e.Kind
	if kind == work.EventCommand {
		kind = work.EventKind(e.State)
	}
	switch kind { //nolint:exhaustive // the others come from no list
	case work.EventIssue, work.EventSource:
		h.hold(walkComments, &h.repo.CommentsSince, h.r.repo.CommentsSince, e.UpdatedAt)
	case work.EventReview:
		h.hold(walkReviewComments, &h.repo.ReviewCommentsSince, h.r.repo.ReviewCommentsSince, e.UpdatedAt)
	}
}

// readAgain notes that a known event was read once more. An edit that a person
// took back while they had the item over is skipped like anything else.
func (h *Comments) readAgain(ctx context.Context, c candidate, outcome string) (err error) {
	if !c.event.Kind.Written() {
		return nil
	}
	if outcome == store.OutcomeEdited && c.event.Kind.Said() {
		c.event.Outcome, err = h.paused(ctx, c)
	}
	if err == nil {
		h.again = append(h.again, c.event)
		return nil
	}
	h.holdBack(c)
	if late(err) {
		h.cut(err)
		return nil
	}
	return h.isolate(err, "judge %s", c.event.URL)
}

// stored finds the candidates that are in the database already, by key, with
// their outcomes.
func (h *Comments) stored(ctx context.Context) (map[string]string, error) {
	known := map[string]string{}
	return known, h.view(ctx, func(tx *store.Tx) error {
		for _, c := range h.events {
			outcome, has, err := tx.FindOutcome(ctx, h.repo.ID, c.event.Key)
			if err != nil {
				return err
			}
			if has {
				known[c.event.Key] = outcome
			}
		}
		return nil
	})
}

// verdict says why an event is ignored; empty when it counts.
func (h *Comments) verdict(ctx context.Context, e work.Event) (string, error) {
	_, marked := work.ParseMarks(e.Body)
	own := slices.Contains(h.p.accounts.ids(h.r.Name.Host), e.Author.ID)
	if own {
		if edited, err := h.people.editedByPerson(ctx, e); edited || err != nil {
			return work.OutcomeOwnEdited, err
		}
	}
	switch {
	case marked && own:
		pasted, err := h.lateCopy(ctx, e)
		if !pasted {
			h.heed(e.Body)
			return work.OutcomeOwn, err
		}
	case marked:
		return work.OutcomeOthers, nil
	}
	if e.Author.Bot {
		return "ignored: bot", nil
	}
	may, err := h.people.mayFeed(ctx, e)
	if may || err != nil {
		return "", err
	}
	if h.takenOver[e.Author.ID] != 0 {
		return work.OutcomeTakenOver, nil
	}
	return work.OutcomeNoPermission, nil
}

// lateCopy plans the removal of further copies of a comment of ours that came
// to light. pasted says that the comment is none of them: a person copied one
// of ours, marker and all, and what they say is theirs.
func (h *Comments) lateCopy(ctx context.Context, e work.Event) (pasted bool, err error) {
	marks, _ := work.ParseMarks(e.Body)
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return false, nil
	}
	var a work.Action
	var known bool
	err = h.view(ctx, func(tx *store.Tx) error {
		a, known, err = tx.GetAction(ctx, marks.Token)
		return err
	})
	if err != nil || !known {
		return false, err
	}
	scope := actions.Scope{Repo: h.repo, GitHub: h.r.GitHub, Accounts: h.p.accounts.ids(h.r.Name.Host)}
	extra, err := actions.Extra(ctx, scope, a)
	for _, id := range extra {
		h.removals = append(h.removals, actions.Removal(h.repo, a, id, h.now()))
	}
	first, parseErr := strconv.ParseInt(a.ResultID, 10, 64)
	later := parseErr == nil && id > first // a copy that came first is ours, shown late
	return err == nil && a.State == work.ActionApplied && later && !slices.Contains(extra, id), err
}
