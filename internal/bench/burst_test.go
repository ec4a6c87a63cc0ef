//go:build unix

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// rush is that people write much at once, on the first pull requests of a world.
type rush struct {
	pulls    int // of them
	comments int // in all
	seconds  int // over which they write; 0: all in one moment
}

// write has them write.
func (b rush) write(t *testing.T, w *world) {
	t.Helper()
	moments := max(1, b.seconds)
	for i := range moments {
		w.later.Store(-int64(moments-1-i) * int64(time.Second))
		n := b.comments / moments
		if i < b.comments%moments {
			n++
		}
		must(t, w.repo.SeedComments(reviewer, w.numbers()[:b.pulls], n))
	}
}

// newRushWorld is a world in which no turn begins: the quiet period of all comments lasts.
func newRushWorld(t *testing.T, pulls int) *world {
	t.Helper()
	w := newWorldOf(t, self(t), shape{repos: 1, pulls: pulls, comments: 2})
	w.quietPeriod = "1h"
	w.writeConfig(t, listening)
	w.untilQuiet(t)
	return w
}

// settleDown makes the passes that take a rush in, send eyes, and see what those changed.
func (w *world) settleDown(t *testing.T) {
	t.Helper()
	for left := 4; left > 0; left-- {
		w.tick(t)
		if w.count(t, `SELECT COUNT(*) FROM actions WHERE kind = 'reaction' AND state IN ('planned', 'sent')`) > 0 {
			left = 3
		}
	}
}

// requests lists what GitHub was asked since its log was reset.
func (w *world) requests() string {
	var b strings.Builder
	for _, r := range w.hub.Requests() {
		fmt.Fprintf(&b, "%s %s?%s %d %.200s\n", r.Method, r.Path, r.Query, r.Status, r.Body)
	}
	return b.String()
}

// TestIdlePassAfterABurst: of more comments than turns take at once, which wait, a pass asks GitHub
// no more than before they came, once they are older than what a list may still lack. Until then it
// asks for their pages again; nothing has changed in them.
// Eyes come to an end.
func TestIdlePassAfterABurst(t *testing.T) {
	testhome.OnlyLong(t)
	const pulls = 60
	for name, b := range map[string]rush{
		"one pull request": {1, 650, 100}, "many": {pulls, 650, 100}, "one pull request in a second": {1, 650, 0}, "full pages": {1, 600, 200}, "full pages in a second": {1, 400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRushWorld(t, pulls)
			before := w.checkIdle(t)
			already := w.count(t, `SELECT COUNT(*) FROM actions WHERE kind = 'reaction'`)
			b.write(t, w)
			w.settleDown(t)
			young := w.countPass(t)
			if pages := 2 * (b.comments/100 + 1); young.rest > before.rest+pages || young.rest != young.notModified {
				t.Errorf("a pass asked %+v before %d comments, and %+v right after them", before, b.comments, young)
			}
			w.later.Add(int64(6 * time.Minute))
			w.settleDown(t)
			after := w.countPass(t)
			if after != before {
				t.Errorf("a pass asked %+v before %d comments, and %+v after them", before, b.comments, after)
				t.Log(w.requests())
			}
			if n := w.count(t, `SELECT COUNT(*) FROM events WHERE processed_at = 0`); n != b.comments {
				t.Errorf("%d comments wait, not %d", n, b.comments)
			}
			eyes := 30 // so many of an item
			if b.pulls > 1 {
				eyes *= (b.comments + 99) / 100 // a hundred are written on each
			}
			if n := w.count(t, `SELECT COUNT(*) FROM actions WHERE kind = 'reaction'`) - already; n != eyes {
				t.Errorf("%d more comments have eyes, not %d", n, eyes)
			}
		})
	}
}

// TestOneCommentOnALongConversation: a pass that takes in two comments asks as much, however many
// there are on the pull request.
func TestOneCommentOnALongConversation(t *testing.T) {
	testhome.OnlyLong(t)
	var asked [2]counts
	var requests [2]string
	for i, comments := range []int{20, 620} {
		w := newRushWorld(t, 2)
		rush{1, comments, 0}.write(t, w)
		w.settleDown(t)
		w.later.Add(int64(8 * time.Minute))
		w.settleDown(t)
		for range 3 { // the first one finds that the others are old
			must(t, w.repo.SeedComments(reviewer, w.numbers()[:1], 2)) // on the conversation, and on the diff
			asked[i] = w.countPass(t)
			asked[i].other, asked[i].notModified = 0, 0 // eyes
			requests[i] = w.requests()
			w.later.Add(int64(2 * time.Minute)) // what GitHub says of an author's permission is kept for one
		}
		if n := w.count(t, `SELECT COUNT(*) FROM events WHERE processed_at = 0`); n != comments+6 {
			t.Errorf("%d comments wait, not %d", n, comments+6)
		}
		if n := w.count(t, `SELECT MAX(LENGTH(threads) - LENGTH(REPLACE(threads, '{', ''))) FROM pull_requests`); n != comments/2+4 {
			t.Errorf("%d threads are stored, not %d", n, comments/2+4)
		}
	}
	if asked[0] != asked[1] {
		t.Errorf("a pass asks %+v beside few comments, and %+v beside many\n%s\n%s", asked[0], asked[1], requests[0], requests[1])
	}
}

// TestABurstIsTakenInInStep: twice as many comments cost twice as much when they are taken
// in, and the pass after them not much more than after half of them, though it loads all that waits. It is
// counted what passes allocate, which no busy machine changes.
func TestABurstIsTakenInInStep(t *testing.T) {
	testhome.OnlyLong(t)
	const pulls, n = 4, 600
	for name, on := range map[string]int{"one pull request": 1, "many": pulls} {
		t.Run(name, func(t *testing.T) {
			var during, after [2]float64
			for i, written := range []int{n, 2 * n} {
				w := newRushWorld(t, pulls)
				idle := w.allocate(t)
				rush{on, written, 100}.write(t, w)
				during[i] = w.allocate(t) - idle
				w.settleDown(t)
				after[i] = w.allocate(t)
				t.Logf("%d comments: %.0f objects to take them in, %.0f by the pass after it, %.0f by the one before", written, during[i], after[i], idle)
			}
			if r := during[1] / during[0]; r > 2.2 {
				t.Errorf("%d comments cost %.2f times as much as %d", 2*n, r, n)
			}
			if r := after[1] / after[0]; r > 1.5 {
				t.Errorf("after %d comments a pass costs %.2f times as much as after %d", 2*n, r, n)
			}
		})
	}
}

// allocate makes a pass, and says how many objects it allocated.
func (w *world) allocate(t *testing.T) float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects")
	if out := w.work(t, objectsVariable+"="+file); len(out) > 0 {
		t.Fatalf("tick: %s", out)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	var n float64
	_, err = fmt.Sscan(string(text), &n)
	must(t, err)
	return n
}
