package ingest

import (
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Whichever request of a first look is refused, once: what it does not bring is recorded by
// the next passes. So is all that people wrote, answered or not, on what the same pass left
// and then found by another way.
func TestARefusedFirstLook(t *testing.T) {
	for _, long := range []int{0, 5} {
		l := lost{seed: 1, pulls: 4, ours: 10, long: long, comments: 24, people: 2}
		whole := newLostMachine(t, l, 10_000)
		whole.pass(fate{})
		whole.pass(fate{})
		want := whole.stored()
		for refused := 1; ; refused++ {
			m := newLostMachine(t, l, 3)
			m.pass(fate{refused: refused})
			if m.hub.time.asked < refused {
				break // all were
			}
			for !m.pass(fate{}) {
			}
			m.pass(fate{}) // what was found singly is asked about with all others
			if d := differences(m.stored(), want); d != "" {
				t.Errorf("with %d long ones of ten, where request %d is refused, stored is something else:\n%s", long, refused, d)
			}
		}
	}
}

// Whichever request of a pass is refused, once: what people write on a pull request, on more
// pages than one, is known in the end.
func TestARefusedLookAtComments(t *testing.T) {
	for refused := 1; ; refused++ {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Hour)
		for i := range 5 {
			at, who := m.hub.now.Add(time.Duration(i-40)*time.Minute), work.Account{ID: int64(crowd + 3*i + 1), Login: fmt.Sprint("person", i)}
			m.hub.add("comments", at, github.Comment{ID: int64(7000 + i), Number: 2000, Author: who, CreatedAt: at, UpdatedAt: at, Body: "Why?"})
			m.hub.add("reviews", at, github.ReviewComment{ID: int64(8000 + i), Pull: 2000, Author: who, CreatedAt: at, UpdatedAt: at, Path: "a.go", Line: 1, Body: "Here."})
		}
		m.hub.sort()
		m.pass(fate{refused: refused})
		if m.hub.time.asked < refused {
			return // all were
		}
		for range 6 {
			m.hub.now = m.hub.now.Add(10 * time.Minute)
			m.pass(fate{})
		}
		if known := m.outcomes(); len(known) != 10 {
			t.Errorf("where request %d is refused, %d comments of 10 are known: %v", refused, len(known), known)
		}
	}
}
