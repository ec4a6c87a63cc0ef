package ingest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A comment that begins with /mergexo is a command. It becomes an event of its own kind, on any
// issue or pull request, so that it is not feedback, gets no 👀 and no redirect, and never reaches
// an agent.

// add adds an event that a list, a conversation, an issue or a pull request shows.
func (h *reading) add(c candidate) {
	c.event = work.AsCommand(c.event)
	h.events = append(h.events, c)
}

// addTalk adds a whole conversation.
func (h *reading) addTalk(kind work.EventKind, item int64, talk []github.Comment) {
	for _, c := range talk {
		h.add(commentEvent(kind, item, c))
	}
}

// wholeTalk reads a whole conversation, once per slice.
func (h *reading) wholeTalk(ctx context.Context, number int) ([]github.Comment, error) {
	talk, err := h.commentsOf(ctx, number, time.Time{})
	if err == nil {
		h.whole[number] = talk
	}
	return talk, err
}

// commentsOf reads a conversation; comments that last changed before since are left out.
func (h *reading) commentsOf(ctx context.Context, number int, since time.Time) ([]github.Comment, error) {
	talk, read := h.whole[number]
	if !read {
		return h.repo.GitHub.CommentsOf(ctx, h.row.Current, number, since)
	}
	return slices.DeleteFunc(slices.Clone(talk), func(c github.Comment) bool { return c.UpdatedAt.Before(since) }), nil
}

// commentEvent is the event of a comment on an issue or a pull request.
func commentEvent(kind work.EventKind, itemID int64, c github.Comment) candidate {
	e := newEvent(itemID, c.Number, kind, strconv.FormatInt(c.ID, 10), work.ContentHash(c.Body))
	e.Node, e.Author, e.Body, e.URL, e.CreatedAt, e.UpdatedAt = c.NodeID, c.Author, work.Normalise(c.Body), c.URL, c.CreatedAt, c.UpdatedAt
	return candidate{event: e, pull: kind == work.EventIssue, word: c.Word}
}

// reviewEvent is the event of a comment on a diff.
func reviewEvent(pull work.PullRequest, c github.ReviewComment) candidate {
	e := newEvent(pull.ItemID, pull.Number, work.EventReview, strconv.FormatInt(c.ID, 10), work.ContentHash(c.Body))
	e.Node, e.Author, e.Body, e.URL, e.CreatedAt, e.UpdatedAt = c.NodeID, c.Author, work.Normalise(c.Body), c.URL, c.CreatedAt, c.UpdatedAt
	e.Review, e.ThreadTop, e.Path, e.Line, e.DiffHunk = c.ReviewID, cmp.Or(c.InReplyTo, c.ID), c.Path, c.Line, c.DiffHunk
	return candidate{event: e, pull: true, pending: c.Pending, word: c.Word, review: c.ReviewID}
}

// reviewOf is the event of a review's own text and state.
func reviewOf(pull work.PullRequest, r github.Review) candidate {
	e := newEvent(pull.ItemID, pull.Number, work.EventSummary, strconv.FormatInt(r.ID, 10), work.ContentHash(r.Body, r.State))
	e.Node, e.Author, e.Body, e.State, e.URL, e.CreatedAt, e.UpdatedAt = r.NodeID, r.Author, work.Normalise(r.Body), r.State, r.URL, r.SubmittedAt, r.UpdatedAt
	return candidate{event: e, pull: true, word: r.Word}
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
		h.log.InfoContext(ctx, what, //nolint:sloglint // one of the fixed names of the followups' events
			"repo_full_name", h.repo.Name.FullName(), "work_item_id", item, "issue_number", comments[0].Number, "comment_id_from", from, "comment_id_to", to)
	}
}
