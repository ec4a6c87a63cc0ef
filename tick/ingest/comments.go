package ingest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func (h *reading) intakeComment(ctx context.Context, c github.Comment) error {
	at, err := h.lookups.place(ctx, h, c.Number)
	switch {
	case err != nil:
		return err
	case at.kind != "":
		h.add(commentEvent(at.kind, at.item, c))
	default:
		h.intakeUntracked(commentEvent(work.EventSource, 0, c))
	}
	return nil
}

func (h *reading) intakeReviewComment(ctx context.Context, c github.ReviewComment) error {
	pull, tracked, err := h.pull(ctx, c.Pull)
	switch {
	case err != nil:
		return err
	case tracked:
		h.add(reviewEvent(pull, c))
	default:
		h.intakeUntracked(reviewEvent(work.PullRequest{Number: c.Pull}, c))
	}
	return nil
}

// commentEvent is the event of a comment on an issue or a pull request.
func commentEvent(kind work.EventKind, itemID int64, c github.Comment) candidate {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	return candidate{pull: kind == work.EventIssue, word: c.Word, event: work.Event{
		ItemID: itemID, Number: c.Number, Kind: kind, Source: id, Node: c.NodeID, Hash: hash, Key: work.EventKey(c.Number, kind, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

// reviewEvent is the event of a comment on a diff.
func reviewEvent(pull work.PullRequest, c github.ReviewComment) candidate {
	id := strconv.FormatInt(c.ID, 10)
	hash := work.ContentHash(c.Body)
	top := c.InReplyTo
	if top == 0 {
		top = c.ID
	}
	return candidate{pull: true, pending: c.Pending, word: c.Word, review: c.ReviewID, event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventReview, Source: id, Node: c.NodeID, Hash: hash, Review: c.ReviewID,
		Key:    work.EventKey(pull.Number, work.EventReview, id, hash),
		Author: c.Author, Body: work.Normalise(c.Body), URL: c.URL, ThreadTop: top, Path: c.Path, Line: c.Line, DiffHunk: c.DiffHunk,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}}
}

// summaryEvent is the event of a review's own text and state. It returns false for a review that
// asks for nothing: one with line comments only, or an approval without text.
func summaryEvent(pull work.PullRequest, r github.Review) (candidate, bool) {
	switch r.State {
	case "CHANGES_REQUESTED":
	case "COMMENTED", "APPROVED":
		if r.Body == "" {
			return candidate{}, false
		}
	default: // PENDING drafts and DISMISSED reviews are ignored
		return candidate{}, false
	}
	return reviewOf(pull, r), true
}

func reviewOf(pull work.PullRequest, r github.Review) candidate {
	id := strconv.FormatInt(r.ID, 10)
	hash := work.ContentHash(r.Body, r.State)
	return candidate{pull: true, word: r.Word, event: work.Event{
		ItemID: pull.ItemID, Number: pull.Number, Kind: work.EventSummary, Source: id, Node: r.NodeID, Hash: hash,
		Key:    work.EventKey(pull.Number, work.EventSummary, id, hash),
		Author: r.Author, Body: work.Normalise(r.Body), State: r.State, URL: r.URL,
		CreatedAt: r.SubmittedAt, UpdatedAt: r.UpdatedAt,
	}}
}

// filterEvents keeps the candidates that are new, each judged. Known ones cost no request.
func (h *reading) filterEvents(ctx context.Context) error {
	if len(h.events) == 0 {
		return nil
	}
	seen, err := h.stored(ctx)
	if err != nil {
		return err
	}
	several := severalVersions(h.events)
	slices.SortStableFunc(h.events, oldestFirst)
	slices.SortStableFunc(h.events, commandsFirst) // they may have begun a pause
	judged, asked := make([]judgedCandidate, 0, len(h.events)), 0
	for _, c := range h.events {
		if asked, err = h.askNextAuthors(ctx, asked, seen); err != nil {
			return err
		}
		if c.pending {
			continue
		}
		if k, known := seen[c.event.Key]; known {
			counts := mayChange(k) || several[versionOf(c.event)]
			if counts || c.event.UpdatedAt.After(c.event.CreatedAt) { // it may have been a hold in between
				judged = append(judged, judgedCandidate{candidate: c, known: true, over: !counts, was: k.Outcome})
			}
			continue
		}
		seen[c.event.Key] = store.KnownEvent{}
		if h.waitsForPull(c) {
			continue
		}
		var err error
		if c.event.Kind.Written() && c.event.Outcome == "" {
			c.event.Outcome, err = h.verdict(ctx, c.event)
		}
		judged = append(judged, judgedCandidate{candidate: c, err: err})
	}
	judged = h.readWords(ctx, judged)
	fresh := make([]candidate, 0, len(judged))
	for _, j := range judged {
		c, err := j.candidate, j.err
		ignored := ""
		if err == nil && c.event.Kind.Written() && c.event.Outcome == "" {
			ignored = c.word.Ignored(c.event.Author)
		}
		if j.over && err == nil {
			continue
		}
		if j.known {
			if err := h.judgeAgain(ctx, j, ignored); err != nil {
				return err
			}
			continue
		}
		if c.event.Kind != work.EventCommand && ignored != "" {
			c.event.Outcome = ignored
		}
		if err == nil && c.event.Kind == work.EventReview && c.event.Outcome == "" {
			var fixed bool
			if fixed, err = h.lookups.fixedFor(ctx, h, c.event); fixed {
				c.event.Outcome = work.OutcomeVerdict
			}
		}
		if err == nil && c.event.Kind == work.EventReview && c.event.Outcome == "" && c.event.State == "" {
			c.event.State, err = h.stateOf(ctx, c)
		}
		switch {
		case err != nil:
		case c.event.Kind == work.EventCommand:
			c.event.Outcome, err = h.commandVerdict(ctx, c.event, c.event.Outcome, ignored)
		case c.event.Outcome == "":
			c.event.Outcome, err = h.paused(ctx, c)
		}
		if err != nil {
			return &unjudged{c.event.Number, c.event.URL, err}
		}
		fresh = append(fresh, c)
	}
	for i, c := range fresh {
		if h.answered(c.event.Key) && (c.event.Outcome == "" || work.ByWord(c.event.Outcome)) {
			fresh[i].event.Outcome = work.OutcomeAnswered
		}
	}
	h.events = fresh
	return nil
}

// unjudged says that an event cannot be judged yet.
type unjudged struct {
	number int
	url    string
	err    error
}

func (e *unjudged) Error() string { return fmt.Sprintf("judge %s: %s", e.url, e.err) }
func (e *unjudged) Unwrap() error { return e.err }

// waitsForPull reports whether a comment waits until its pull request or its issue can be read. A command
// does not wait: it may be the way out.
func (h *reading) waitsForPull(c candidate) bool {
	if len(h.unread) == 0 || !c.event.Kind.IsComment() || c.event.Kind == work.EventCommand {
		return false
	}
	n := sortedKeys(h.unread)[0]
	said := fmt.Sprintf("comments on #%d wait until it can be read", n)
	if !slices.Contains(h.trouble, said) {
		h.trouble = append(h.trouble, said)
	}
	h.left[c.event.Number] = said
	return true
}

// oldestFirst orders candidates by time. Stamps are whole seconds; within a second GitHub's ids
// rise. Of two versions of one comment, read before and after an edit, the newer comes last.
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

// judgeAgain records that a known event was read again. If its text does not count, ignored says so.
// An edit that a person reverted while the item was paused for them is skipped like other comments.
func (h *reading) judgeAgain(ctx context.Context, j judgedCandidate, ignored string) (err error) {
	c := j.candidate
	switch err = j.err; {
	case !c.event.Kind.Written(), ignored != "" && (c.keeps || ignored == j.was):
		return nil
	case err != nil:
	case ignored != "":
		c.event.Outcome = ignored
	case j.was == store.OutcomeEdited && isCommand(c.event, work.VerbHold, []int{c.event.Number}):
		c.event.Outcome, err = h.holdAgain(ctx, c)
	case (j.was == store.OutcomeEdited || work.ByWord(j.was)) && c.event.Kind.IsComment():
		c.event.Outcome, err = h.paused(ctx, c)
	}
	if err != nil {
		return &unjudged{c.event.Number, c.event.URL, err}
	}
	h.readAgain = append(h.readAgain, c.event)
	return nil
}

// stored returns the candidates that the database has, by key.
func (h *reading) stored(ctx context.Context) (known map[string]store.KnownEvent, err error) {
	keys := make([]string, len(h.events))
	for i, c := range h.events {
		keys[i] = c.event.Key
	}
	return known, h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		known, err = tx.ListKnown(ctx, h.row.ID, keys)
		return err
	})
}

// verdict returns the outcome of an event that is ignored, or "" if it counts.
func (h *reading) verdict(ctx context.Context, e work.Event) (string, error) {
	_, marked := work.ParseMarks(e.Body)
	own := slices.Contains(h.env.Accounts.Writers(h.repo.Name.Host), e.Author.ID)
	if own {
		if edited, err := h.editedByPerson(ctx, e); edited || err != nil {
			return work.OutcomeOwnEdited, err
		}
	}
	switch {
	case marked && own:
		pasted, err := h.lateCopy(ctx, e)
		if !pasted {
			h.recordOwnMarks(e)
			return work.OutcomeOwn, err
		}
	case marked:
		return work.OutcomeOthers, nil
	}
	if theirs, err := h.onForeignPull(ctx, e); theirs || err != nil {
		return work.OutcomeTheirs, err
	}
	if e.Author.Bot {
		return "ignored: bot", nil
	}
	if _, err := h.permissions.isReviewer(ctx, e.Author); err != nil {
		return "", err
	}
	may, err := h.permissions.mayComment(ctx, e)
	if may || err != nil {
		return "", err
	}
	if h.permissions.takenOver[e.Author.ID] != 0 {
		return work.OutcomeTakenOver, nil
	}
	return work.OutcomeNoPermission, nil
}

// onForeignPull reports whether a comment is on somebody else's pull request and not a command. It
// asks for no turn, so nobody's permission is looked up.
func (h *reading) onForeignPull(ctx context.Context, e work.Event) (bool, error) {
	if !e.Kind.IsComment() {
		return false, nil
	}
	return h.lookups.onForeignPull(ctx, h, e.Number)
}

// stateOf returns the state of the review that a diff comment belongs to. A comment with an
// approval is answered, and nothing is pushed for it.
func (h *reading) stateOf(ctx context.Context, c candidate) (string, error) {
	if c.review == 0 {
		return "", nil
	}
	if state, known := h.reviewStates[c.review]; known {
		return state, nil
	}
	all, err := h.repo.GitHub.Reviews(ctx, h.row.Current, c.event.Number)
	if github.IsStatus(err, 404) {
		err = nil
	}
	for _, r := range all {
		h.reviewStates[r.ID] = r.State
	}
	return h.reviewStates[c.review], err
}

// lateCopy plans the removal of further copies of a comment of ours. pasted means that the comment
// is no such copy: a person copied one of ours with its marker, and it counts as theirs.
func (h *reading) lateCopy(ctx context.Context, e work.Event) (pasted bool, err error) {
	marks, _ := work.ParseMarks(e.Body)
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return false, nil
	}
	var a work.Action
	var known bool
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		a, known, err = tx.GetAction(ctx, marks.Token)
		return err
	})
	if err != nil || !known {
		return false, err
	}
	scope := actions.Scope{Repo: h.row, GitHub: h.repo.GitHub, Accounts: h.env.Accounts.Writers(h.repo.Name.Host)}
	extra, err := actions.ExtraCopies(ctx, scope, a)
	for _, id := range extra {
		h.removals = append(h.removals, actions.Removal(h.row, a, id, h.now()))
	}
	first, parseErr := strconv.ParseInt(a.ResultID, 10, 64)
	later := parseErr == nil && id > first // an earlier copy is ours, shown late
	return err == nil && a.State == work.ActionApplied && later && !slices.Contains(extra, id), err
}

// logQueued logs the new comments on the issue of each work item without a pull request.
func (h *reading) logQueued(ctx context.Context, what string) {
	queued := sourceEvents(h.events)
	if len(queued) == 0 {
		return
	}
	opened := map[int64]bool{}
	for _, pull := range h.openPulls {
		opened[pull.ItemID] = true
	}
	found := map[int64][]work.Event{}
	for _, e := range queued {
		if e.ItemID != 0 && !opened[e.ItemID] {
			found[e.ItemID] = append(found[e.ItemID], e)
		}
	}
	for item, comments := range found {
		from, to := env.IDRange(comments)
		h.env.Log.InfoContext(ctx, what, //nolint:sloglint // one of the fixed names of the followups' events
			"repo_full_name", h.repo.Name.FullName(), "work_item_id", item, "issue_number", comments[0].Number, "comment_id_from", from, "comment_id_to", to)
	}
}

// editedByPerson reports whether a comment that we sent has been edited by somebody else. We edit
// sticky comments ourselves, so for those only a lost marker proves it.
func (h *reading) editedByPerson(ctx context.Context, e work.Event) (bool, error) {
	if e.ItemID == 0 {
		return false, nil
	}
	sent, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) ([]work.Action, error) {
		return tx.ListItemActions(ctx, e.ItemID)
	})
	if err != nil {
		return false, err
	}
	kind, id := e.Kind, e.Source
	if kind == work.EventCommand {
		plain := versionKeys(e)[1]
		kind, id = work.EventKind(plain[0]), plain[1]
	}
	return slices.ContainsFunc(sent, func(a work.Action) bool {
		return a.Number == e.Number && a.ResultID == id && writes(a.Kind, kind) && textChanged(a, e.Body)
	}), nil
}

// judgeNewComments keeps the comments on a turn's issue that are new and count. The others are left to
// ingest.
func (h *reading) judgeNewComments(ctx context.Context, l *env.Lease, said []github.Comment) error {
	defer h.sent.Wait()
	for _, c := range said {
		h.add(commentEvent(work.EventSource, l.Item.ID, c))
	}
	if err := h.filterEvents(ctx); err != nil && github.IsItemError(err) {
		return &work.WaitError{Until: h.now().Add(h.env.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyNotRead, Local: err.Error()}}
	} else if err != nil {
		return err
	}
	h.events = slices.DeleteFunc(h.events, func(c candidate) bool { return c.event.Outcome != "" })
	return nil
}
