package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// sourceEvents returns those candidates that are issue comments and count.
func sourceEvents(candidates []candidate) []work.Event {
	var out []work.Event
	for _, c := range candidates {
		if c.event.Kind == work.EventSource && c.event.Outcome == "" {
			out = append(out, c.event)
		}
	}
	return out
}

// timelineEvent makes an event of a timeline entry.
func timelineEvent(item work.Item, kind work.EventKind, number int, t github.TimelineEvent, state string) candidate {
	e := newEvent(item.ID, number, kind, strconv.FormatInt(t.ID, 10), work.ContentHash(string(kind), state))
	e.Author, e.State, e.CreatedAt, e.UpdatedAt = t.Actor, state, t.CreatedAt, t.CreatedAt
	return candidate{event: e}
}

func newEvent(item int64, number int, kind work.EventKind, source, hash string) work.Event {
	return work.Event{ItemID: item, Number: number, Kind: kind, Source: source, Hash: hash, Key: work.EventKey(number, kind, source, hash)}
}

// lastEvent returns the newest entry of a kind on a timeline.
func lastEvent(timeline []github.TimelineEvent, event, label string) (github.TimelineEvent, bool) {
	for _, t := range slices.Backward(timeline) {
		if t.Event == event && (label == "" || strings.EqualFold(t.Label, label)) {
			return t, true
		}
	}
	return github.TimelineEvent{}, false
}

// eventAttrs returns the fields of log lines about an event.
func (h *reading) eventAttrs(c candidate, more ...any) []any {
	e := c.event
	attrs := []any{"repo_full_name", h.repo.Name.FullName(), "event_key", e.Key, "kind", string(e.Kind), "author", e.Author.Login, "url", e.URL}
	if id := h.itemOf(c); id != 0 {
		attrs = append(attrs, "work_item_id", id)
	}
	number := "issue_number"
	if c.pull {
		number = "pr_number"
	}
	return append(append(attrs, number, e.Number), more...)
}

// itemID returns the id of an issue's changed or new work item, once the slice's items are stored;
// 0 if there is none.
func (h *reading) itemID(issue int) int64 {
	return cmp.Or(h.items[issue].ID, h.newItems[issue])
}

// itemOf returns the id of the work item that an event belongs to, once the slice's items are
// stored; 0 if there is none.
func (h *reading) itemOf(c candidate) int64 {
	e := c.event
	issue := e.Number
	if c.pull {
		issue = h.adopted[e.Number]
	}
	if _, ok := h.items[issue]; ok && !c.former && (!c.pull || e.ItemID == 0) {
		return h.itemID(issue)
	}
	return e.ItemID
}

// declineCommand plans a comment to an author who may not give commands: once per repository. Later
// commands are ignored.
func (h *reading) declineCommand(e work.Event) {
	if e.Author.ID == 0 {
		return // the account was deleted
	}
	token := work.NoticeToken(h.row.Key(), 0, "may not command "+strconv.FormatInt(e.Author.ID, 10))
	body := "Thank you, but `/mergexo` commands are for people with write permission on this repository, so nothing was done. " +
		"Please ask one of them to give the command. Further commands will be ignored."
	h.declineOn(e.ItemID, e.Number, work.NeedCosmetic, token, body, "a command by "+e.Author.Login+", who may not give any")
}

// declineOn plans a comment that what somebody asked for is not done.
func (h *reading) declineOn(item int64, number int, need work.Need, token, body, why string) {
	h.declined = append(h.declined, work.Action{
		RepoID: h.row.ID, ItemID: item, Kind: work.ActionComment, Need: need, Token: token, State: work.ActionPlanned,
		Number: number, Body: h.repo.Mark(body, work.Marks{Token: token}), Why: why,
	})
}

// plainOf returns the kind and the id of a comment, also if it is a command.
func plainOf(e work.Event) (work.EventKind, string) {
	plain := versionKeys(e)[0]
	if e.Kind == work.EventCommand {
		plain = versionKeys(e)[1]
	}
	return work.EventKind(plain[0]), plain[1]
}

// versionKeys returns the kinds and ids under which versions of a comment are stored: an edit may
// turn a comment into a command or back.
func versionKeys(e work.Event) [][2]string {
	if e.Kind != work.EventCommand {
		return [][2]string{{string(e.Kind), e.Source}, {string(work.EventCommand), work.CommandSource(e.Kind, e.Source)}}
	}
	plain := e.Source
	if kind := work.EventKind(e.State); kind == work.EventReview || kind == work.EventSummary {
		plain = plain[1:]
	}
	return [][2]string{{string(e.Kind), e.Source}, {e.State, plain}}
}
