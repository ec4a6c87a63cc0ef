package ingest

import "testing"

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
