package batch

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/origin"
)

// What is read of many issues and pull requests at once stands in the slice. Whoever needs
// it of one of them finds it here; what is not there GitHub is asked for.

// Ahead reads single issues and pull requests, from the slice where they stand in it.
type Ahead struct{ *Batch }

// Ahead reads what was read of many at once, or else asks GitHub.
func (h *Batch) Ahead() Ahead { return Ahead{h} }

// IssueOf reads an issue.
func (h Ahead) IssueOf(ctx context.Context, number int) (github.Issue, bool, error) {
	if is, ok := h.History.Issues[number]; ok {
		return is, true, nil
	}
	return h.R.GitHub.Issue(ctx, h.Repo.Current, number)
}

// TextOf reads what an issue, a comment or a review says, and when that was last edited.
func (h Ahead) TextOf(ctx context.Context, nodeID string) (github.Text, bool, error) {
	if text, ok := h.History.Texts[nodeID]; ok {
		return text, true, nil
	}
	return h.R.GitHub.Text(ctx, nodeID)
}

// CommentsOf reads a conversation; since bounds it by the last change.
func (h Ahead) CommentsOf(ctx context.Context, number int, since time.Time) ([]github.Comment, error) {
	talk, ok := h.History.Comments[number]
	if !ok {
		return h.R.GitHub.CommentsOf(ctx, h.Repo.Current, number, since)
	}
	return slices.DeleteFunc(slices.Clone(talk), func(c github.Comment) bool { return c.UpdatedAt.Before(since) }), nil
}

// NoteTalk keeps a conversation that was read whole: what is asked of it is found in it. An
// issue or a pull request that this pass had left, and takes in after all, is not left any
// more: all that was said there comes with it, and nothing else brings it.
func (h Ahead) NoteTalk(number int, talk []github.Comment) {
	delete(h.Forgotten, number)
	h.History.Join(adoption.History{Comments: map[int][]github.Comment{number: talk}})
	h.ListedComments = append(h.ListedComments, talk...)
}

// CommitsOf reads a pull request's commits: their messages.
func (h Ahead) CommitsOf(ctx context.Context, number int) ([]origin.Commit, error) {
	if commits, ok := h.History.Commits[number]; ok {
		return commits, nil
	}
	return h.R.GitHub.PullCommits(ctx, h.Repo.Current, number)
}

// LabelsOf reads a timeline, as far as it tells who set which labels when. labels are those
// that are set now. A pause is known by ids, and a timeline that was read among many has
// none: one with a pause is read by itself, as is one that lacks a label that is set.
func (h Ahead) LabelsOf(ctx context.Context, number int, labels []string) ([]github.TimelineEvent, error) {
	timeline, ok := h.History.Labels[number]
	pauses := func(name string) bool { return strings.EqualFold(name, h.R.Settings.Labels.Ignore) }
	shown := func(name string) bool {
		_, shown := Last(timeline, "labeled", name)
		return shown
	}
	if !ok || slices.ContainsFunc(labels, func(name string) bool { return pauses(name) || !shown(name) }) ||
		slices.ContainsFunc(timeline, func(e github.TimelineEvent) bool { return pauses(e.Label) }) {
		return h.R.GitHub.TimelineOf(ctx, h.Repo.Current, number)
	}
	return timeline, nil
}

// Labelling is by what the labelling is known that began an item: its id, or its node id
// where it was read among many.
func Labelling(e github.TimelineEvent) string {
	if e.ID == 0 {
		return e.NodeID
	}
	return strconv.FormatInt(e.ID, 10)
}

// Began gives an item the id of the labelling that began it, of which only the node id is
// known. Where GitHub names none like that any more it is the newest one.
func Began(item work.Item, timeline []github.TimelineEvent) work.Item {
	if _, err := strconv.ParseInt(item.LabelEvent, 10, 64); err == nil || item.LabelEvent == "" {
		return item
	}
	at := slices.IndexFunc(timeline, func(e github.TimelineEvent) bool { return e.NodeID == item.LabelEvent })
	if at >= 0 {
		item.LabelEvent = Labelling(timeline[at])
	} else if last, ok := Last(timeline, "labeled", item.Label); ok {
		item.LabelEvent = Labelling(last)
	}
	return item
}
