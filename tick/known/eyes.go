package known

import "github.com/mergexo/gh-mergexo/internal/work"

// mostEyes is how many comments of a repository have eyes while they wait: as many as
// three passes send. Eyes say that a comment was seen, before anybody works on it; where
// thousands wait they would go on for hours after everybody knows.
const mostEyes = 100

// Eyes are the keys of the comments that get eyes, if they are wanted: the first that
// waits on each item, then the second on each.
func Eyes(items []Item) map[string]bool {
	eyes := map[string]bool{}
	waiting := make([][]work.Event, 0, len(items))
	for _, i := range items {
		if said := i.seen(); len(said) > 0 {
			waiting = append(waiting, said)
		}
	}
	for rank := 0; len(waiting) > 0; rank++ {
		var longer [][]work.Event
		for _, said := range waiting {
			if len(eyes) >= mostEyes {
				return eyes
			}
			eyes[said[rank].Key] = true
			if len(said) > rank+1 {
				longer = append(longer, said)
			}
		}
		waiting = longer
	}
	return eyes
}

// seen are the comments that may get eyes: GitHub takes none for a review's own text, and
// what stands elsewhere gets a pointer.
func (i Item) seen() (said []work.Event) {
	for _, e := range i.Events {
		if e.Kind.Said() && e.Kind != work.EventSummary && !i.Elsewhere(e) {
			if said = append(said, e); len(said) == mostEyes {
				break
			}
		}
	}
	return said
}
