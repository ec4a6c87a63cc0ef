package ingest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The slice's history has the answers of queries about many issues and pull requests. The functions
// below read from GitHub what it lacks.

// issueOf returns an issue as this pass has read it, or reads it.
func (h *reading) issueOf(ctx context.Context, number int) (github.Issue, bool, error) {
	if is, ok := h.history.Issues[number]; ok {
		return is, true, nil
	}
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

// textOf reads the text of an issue, a comment or a review, and when it was last edited.
func (h *reading) textOf(ctx context.Context, nodeID string) (github.Text, bool, error) {
	if text, ok := h.history.Texts[nodeID]; ok {
		return text, true, nil
	}
	return h.repo.GitHub.Text(ctx, nodeID)
}

// commentsOf reads a conversation; comments that last changed before since are left out.
func (h *reading) commentsOf(ctx context.Context, number int, since time.Time) ([]github.Comment, error) {
	talk, ok := h.history.Comments[number]
	if !ok {
		return h.repo.GitHub.CommentsOf(ctx, h.row.Current, number, since)
	}
	return slices.DeleteFunc(slices.Clone(talk), func(c github.Comment) bool { return c.UpdatedAt.Before(since) }), nil
}

// wholeTalk reads a whole conversation, once per slice.
func (h *reading) wholeTalk(ctx context.Context, number int) ([]github.Comment, error) {
	talk, err := h.talks.take(ctx, number, func(ctx context.Context) ([]github.Comment, error) { return h.commentsOf(ctx, number, time.Time{}) })
	if err == nil {
		h.history.Join(github.History{Comments: map[int][]github.Comment{number: talk}})
	}
	return talk, err
}

func (h *reading) commitsOf(ctx context.Context, number int) ([]work.Commit, error) {
	if commits, ok := h.history.Commits[number]; ok {
		return commits, nil
	}
	return h.repo.GitHub.PullCommits(ctx, h.row.Current, number)
}

// labelsOf reads who set which labels when from a timeline. labels are those set now. Pauses are
// known by event ids, which timelines read in bulk lack; so one with a pause is read singly, as is
// one that lacks a label that is set.
func (h *reading) labelsOf(ctx context.Context, number int, labels []string) ([]github.TimelineEvent, error) {
	timeline, ok := h.history.Labels[number]
	pauses := func(name string) bool { return strings.EqualFold(name, h.repo.Settings.Labels.Ignore) }
	shown := func(name string) bool {
		_, shown := lastEvent(timeline, "labeled", name)
		return shown
	}
	if !ok || slices.ContainsFunc(labels, func(name string) bool { return pauses(name) || !shown(name) }) ||
		slices.ContainsFunc(timeline, func(e github.TimelineEvent) bool { return pauses(e.Label) }) {
		return h.repo.GitHub.TimelineOf(ctx, h.row.Current, number)
	}
	return timeline, nil
}

// labellingID returns what identifies the labelling that began an item: its id, or its node id if
// it was read in bulk.
func labellingID(e github.TimelineEvent) string {
	if e.ID == 0 {
		return e.NodeID
	}
	return strconv.FormatInt(e.ID, 10)
}

// resolveLabelEvent replaces the node id of the labelling that began the item by its id. If GitHub
// no longer has that entry, it takes the newest labelling.
func resolveLabelEvent(item work.Item, timeline []github.TimelineEvent) work.Item {
	if _, err := strconv.ParseInt(item.LabelEvent, 10, 64); err == nil || item.LabelEvent == "" {
		return item
	}
	at := slices.IndexFunc(timeline, func(e github.TimelineEvent) bool { return e.NodeID == item.LabelEvent })
	if at >= 0 {
		item.LabelEvent = labellingID(timeline[at])
	} else if last, ok := lastEvent(timeline, "labeled", item.Label); ok {
		item.LabelEvent = labellingID(last)
	}
	return item
}
