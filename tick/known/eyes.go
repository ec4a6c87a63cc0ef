package known

import "github.com/mergexo/gh-mergexo/internal/work"

// MostEyes is how many comments of a repository have eyes while they wait: as many as
// three passes send. Eyes say that a comment was seen, before anybody works on it; where
// thousands wait they would go on for hours after everybody knows.
const MostEyes = 100

// Eyes are the keys of the comments that get eyes, if they are wanted, most of them: the first
// that waits on each item, then the second on each.
func Eyes(items []Item, most int) map[string]bool {
	eyes := map[string]bool{}
	waiting := make([]int, len(items)) // of each item: from which of its events on
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

// seen is the first of the item's comments, from one on, that may get eyes: GitHub takes
// none for a review's own text, and what stands elsewhere gets a pointer.
func (i *Item) seen(from int) int {
	for at, e := range i.Events[from:] {
		if e.Kind.Said() && e.Kind != work.EventSummary && !i.Elsewhere(e) {
			return from + at
		}
	}
	return len(i.Events)
}
