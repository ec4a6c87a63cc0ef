package ingest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// GitHub's lists do not tell what was deleted. That somebody deleted a comment of
// ours is seen where all comments of an issue or a pull request are read anyway.

// The outcomes of what we wrote and is not there any more.
const (
	outcomeOwnDeleted = "ignored: our own, deleted by a person"
	outcomeOwnRemoved = "ignored: our own, a second copy that was removed"
)

// missedComment is a comment of ours that is not there any more.
type missedComment struct {
	event work.Event
	why   string // its outcome
}

// commentIDs are the ids of comments as GitHub shows them.
type commentIDs map[string]bool

func (s commentIDs) add(id int64) { s[strconv.FormatInt(id, 10)] = true }

// deletedOwn are the comments of ours that were listed once and are not shown any
// more. Lists lag, each entry by itself, so that of one that is young nothing is known.
func deletedOwn(known []work.Event, now commentIDs, kinds []work.EventKind, at time.Time) []work.Event {
	var gone []work.Event
	for _, e := range known {
		own := e.Outcome == work.OutcomeOwn || e.Outcome == work.OutcomeOwnEdited
		if own && at.Sub(e.CreatedAt) > overlap && slices.Contains(kinds, e.Kind) && !now[e.Source] {
			gone = append(gone, e)
		}
	}
	return gone
}

// missOwn notes the comments of ours that are not there any more, by our own removal
// or by a person's.
func (h *reading) missOwn(ctx context.Context, number int, itemID int64, now commentIDs, kinds ...work.EventKind) error {
	return h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		known, err := tx.ListEvents(ctx, h.row.ID, number)
		if err != nil {
			return err
		}
		sent, err := tx.ListItemActions(ctx, itemID)
		if err != nil {
			return err
		}
		known = append(known, unlisted(known, sent, number, kinds)...)
		for _, e := range deletedOwn(known, now, kinds, h.now()) {
			on := work.EventIssue
			if e.Kind == work.EventReview {
				on = work.EventReview
			}
			_, ours, err := tx.GetAction(ctx, work.RemoveToken(h.row.Key(), on, e.Source))
			if err != nil {
				return err
			}
			why := outcomeOwnDeleted
			if ours {
				why = outcomeOwnRemoved
			}
			h.missedOwn = append(h.missedOwn, missedComment{e, why})
		}
		return nil
	})
}

// unlisted are the comments that we sent and that no list has shown yet, as the
// events that they would be.
func unlisted(known []work.Event, sent []work.Action, number int, kinds []work.EventKind) []work.Event {
	var out []work.Event
	for _, a := range sent {
		at := slices.IndexFunc(kinds, func(k work.EventKind) bool { return writes(a.Kind, k) })
		listed := func(e work.Event) bool { return slices.Contains(kinds, e.Kind) && e.Source == a.ResultID }
		if at < 0 || a.State != work.ActionApplied || a.Number != number || a.ResultID == "" || slices.ContainsFunc(known, listed) {
			continue
		}
		hash := work.ContentHash(a.Body)
		out = append(out, work.Event{
			ItemID: a.ItemID, RepoID: a.RepoID, Number: number, Kind: kinds[at], Source: a.ResultID, Hash: hash,
			Key: work.EventKey(number, kinds[at], a.ResultID, hash), URL: a.ResultURL, CreatedAt: a.SeenAt, UpdatedAt: a.SeenAt, Outcome: work.OutcomeOwn,
		})
	}
	return out
}

// missInTimeline looks for our comments in a timeline that was read whole.
func (h *reading) missInTimeline(ctx context.Context, number int, itemID int64, timeline []github.TimelineEvent) error {
	now := commentIDs{}
	for _, t := range timeline {
		if t.Event == "commented" { // ids of other entries are of another kind
			now.add(t.ID)
		}
	}
	return h.missOwn(ctx, number, itemID, now, work.EventSource)
}

// missOnPull looks for our replies among the threads, and for our comments in the
// conversation where GitHub counts fewer than were listed.
func (h *reading) missOnPull(ctx context.Context, pull work.PullRequest, d github.PullDetail) error {
	lines := commentIDs{}
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			lines.add(c.ID)
		}
	}
	if err := h.missOwn(ctx, pull.Number, pull.ItemID, lines, work.EventReview); err != nil {
		return err
	}
	listed, err := h.countTalk(ctx, pull)
	if err != nil || d.CommentCount >= listed {
		return err
	}
	all, err := h.commentsOf(ctx, pull.Number, time.Time{}) // one that takes a pass is not read twice in it
	if err != nil {
		return err
	}
	talk := commentIDs{}
	for _, c := range all {
		talk.add(c.ID)
	}
	return h.missOwn(ctx, pull.Number, pull.ItemID, talk, work.EventIssue)
}

// countTalk is how many comments of a conversation there were, without those of
// ours that are known to be gone.
func (h *reading) countTalk(ctx context.Context, pull work.PullRequest) (int, error) {
	there := map[string]bool{}
	for _, c := range slices.Concat(h.listedComments, h.history.Comments[pull.Number]) {
		if c.Number == pull.Number {
			there[strconv.FormatInt(c.ID, 10)] = true
		}
	}
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		known, err := tx.ListEvents(ctx, h.row.ID, pull.Number)
		if err != nil {
			return err
		}
		sent, err := tx.ListItemActions(ctx, pull.ItemID)
		known = append(known, unlisted(known, sent, pull.Number, []work.EventKind{work.EventIssue})...)
		for _, e := range known {
			if e.Kind == work.EventIssue && e.Outcome != outcomeOwnDeleted && e.Outcome != outcomeOwnRemoved {
				there[e.Source] = true
			}
		}
		return err
	})
	return len(there), err
}

// storeMissed keeps that they were noted.
func (h *reading) storeMissed(ctx context.Context, tx *store.Tx) error {
	for _, m := range h.missedOwn {
		e := m.event
		if e.ID != 0 {
			if err := tx.SetOutcome(ctx, e.ID, e.Outcome, m.why); err != nil {
				return err
			}
			continue
		}
		e.Outcome, e.SeenAt, e.ProcessedAt = m.why, h.now(), h.now()
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
	}
	return nil
}
