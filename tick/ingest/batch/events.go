package batch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SourceEvents are the comments on an issue among the candidates.
func SourceEvents(candidates []Inbound) []work.Event {
	var out []work.Event
	for _, c := range candidates {
		if c.Event.Kind == work.EventSource && c.Event.Outcome == "" {
			out = append(out, c.Event)
		}
	}
	return out
}

// Inbound is an event that may be new.
type Inbound struct {
	Event   work.Event
	Pull    bool   // it stands on a pull request, otherwise on an issue
	Pending bool   // part of a draft review
	Former  bool   // it belongs to the item that it names, whichever comes after that on the issue
	Node    string // of a comment or a review
	Review  int64  // that a comment on a diff came with
}

// Fact makes the event of something that happened on a timeline.
func Fact(item work.Item, kind work.EventKind, number int, t github.TimelineEvent, state string) Inbound {
	id := strconv.FormatInt(t.ID, 10)
	hash := work.ContentHash(string(kind), state)
	return Inbound{Event: work.Event{
		ItemID: item.ID, Number: number, Kind: kind, Source: id, Hash: hash, Key: work.EventKey(number, kind, id, hash),
		Author: t.Actor, State: state, CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt,
	}}
}

// Last finds the newest event of a kind on a timeline.
func Last(timeline []github.TimelineEvent, event, label string) (github.TimelineEvent, bool) {
	for _, t := range slices.Backward(timeline) {
		if t.Event == event && (label == "" || strings.EqualFold(t.Label, label)) {
			return t, true
		}
	}
	return github.TimelineEvent{}, false
}

// SortedKeys are a map's keys, sorted.
func SortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// EventAttrs are the fields of every log line about an event.
func (h *Batch) EventAttrs(c Inbound, more ...any) []any {
	e := c.Event
	attrs := []any{"repo_full_name", h.R.Name.FullName(), "event_key", e.Key, "kind", string(e.Kind), "author", e.Author.Login, "url", e.URL}
	if id := h.ItemOf(c); id != 0 {
		attrs = append(attrs, "work_item_id", id)
	}
	number := "issue_number"
	if c.Pull {
		number = "pr_number"
	}
	return append(append(attrs, number, e.Number), more...)
}

// ItemOf is the work item that an event belongs to, once the batch's items are
// stored; 0 where it belongs to none.
func (h *Batch) ItemOf(c Inbound) int64 {
	e := c.Event
	issue := e.Number
	if c.Pull {
		issue = h.Adopted[e.Number]
	}
	if item, ok := h.Items[issue]; ok && !c.Former && (!c.Pull || e.ItemID == 0) {
		return item.ID
	}
	return e.ItemID
}

// Decline tells somebody who may not command that this is so: once in a
// repository, politely, and then never again.
func (h *Batch) Decline(e work.Event) {
	if e.Author.ID == 0 {
		return // the account was deleted
	}
	h.decline(e, work.NoticeToken(h.Repo.Key(), 0, "may not command "+strconv.FormatInt(e.Author.ID, 10)),
		"Thank you, but `/mergexo` commands are for people with write permission on this repository, so nothing was done. "+
			"Please ask one of them to give the command. Further commands will be ignored.")
}

// DeclineMerge says to somebody who may give commands that this one is not among them.
func (h *Batch) DeclineMerge(e work.Event) {
	h.decline(e, work.NoticeToken(h.Repo.Key(), e.Number, e.Key),
		"`/mergexo merge` is the word of somebody with write permission on this repository, so nothing was done.")
}

func (h *Batch) decline(e work.Event, token, body string) {
	h.Declined = append(h.Declined, work.Action{
		RepoID: h.Repo.ID, ItemID: e.ItemID, Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned,
		Number: e.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a command by " + e.Author.Login + ", who may not give any",
	})
}
