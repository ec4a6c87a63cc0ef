package known

import "github.com/mergexo/gh-mergexo/internal/work"

// MostReactions is how many pending comments of a repository get 👀: as many as three passes send. 👀
// shows that a comment was seen before anybody works on it; with thousands pending they would go on
// for hours after everybody knows.
const MostReactions = 100

// ChooseReactions returns the keys of at most most comments that get 👀: the first pending one of
// each item, then the second of each.
func ChooseReactions(items []Item, most int) map[string]bool {
	eyes := map[string]bool{}
	waiting := make([]int, len(items)) // index of the next event, by item
	for left := true; left; {
		left = false
		for n := range items {
			at := items[n].seen(waiting[n])
			waiting[n] = at + 1
			if at == len(items[n].Events) {
				waiting[n] = at
				continue
			}
			if len(eyes) == most {
				return eyes
			}
			eyes[items[n].Events[at].Key], left = true, true
		}
	}
	return eyes
}

// seen returns the index of the item's first comment, from one on, that may get 👀. GitHub takes no
// reactions on a review's own text, and comments that belong elsewhere get a pointer instead.
func (i *Item) seen(from int) int {
	for at, e := range i.Events[from:] {
		if e.Kind.IsComment() && e.Kind != work.EventSummary && !i.OnIssueDuringPull(e) {
			return from + at
		}
	}
	return len(i.Events)
}
