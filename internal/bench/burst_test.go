//go:build unix

package bench

import "testing"

// burst has somebody write comments on the first pull requests, as many on each.
func (w *world) burst(t *testing.T, pulls, comments int) {
	t.Helper()
	numbers := make([]int, 0, pulls)
	for _, p := range w.repo.Pulls()[:pulls] {
		numbers = append(numbers, p.Number)
	}
	must(t, w.repo.SeedComments(reviewer, numbers, comments))
}

// TestBurst: more comments than turns take at once all wait, and eyes come to an end.
func TestBurst(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	const pulls, written = 3, 900
	w := newWorld(t, self(t), pulls)
	w.quietPeriod = "1h"
	w.writeConfig(t, listening)
	w.untilQuiet(t)
	w.burst(t, pulls, written)
	for range 4 { // takes them in, sends eyes, sees what they changed
		w.tick(t)
	}
	db := openRead(t, w.database())
	defer func() { must(t, db.Close()) }()
	if n := len(query(t, db, `SELECT id FROM events WHERE processed_at = 0`)); n != written {
		t.Errorf("%d comments wait, not %d", n, written)
	}
	if n := len(query(t, db, `SELECT id FROM actions WHERE kind = 'reaction'`)); n != 100 {
		t.Errorf("%d comments have eyes, not 100", n)
	}
}
