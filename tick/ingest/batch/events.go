package batch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func SourceEvents(candidates []Candidate) []work.Event {
	var out []work.Event
	for _, c := range candidates {
		if c.Event.Kind == work.EventSource && c.Event.Outcome == "" {
			out = append(out, c.Event)
		}
	}
	return out
}

// Candidate is an event that may be new.
type Candidate struct {
	Event   work.Event
	Pull    bool   // it stands on a pull request, otherwise on an issue
	Pending bool   // part of a draft review
	Former  bool   // it belongs to the item that it names, whichever comes after that on the issue
	Node    string // of a comment or a review
	Review  int64  // that a comment on a diff came with
}

// Fact makes the event of something that happened on a timeline.
func Fact(item work.Item, kind work.EventKind, number int, t github.TimelineEvent, state string) Candidate {
	id := strconv.FormatInt(t.ID, 10)
	hash := work.ContentHash(string(kind), state)
	return Candidate{Event: work.Event{
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

func SortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
