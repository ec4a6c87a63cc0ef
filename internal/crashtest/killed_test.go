//go:build unix

package crashtest

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Ten passes, each killed as soon as its agent works: it is paid as often as a
// turn may be tried, and people are told once.
func TestKilledWhileTheAgentRunsTenTimes(t *testing.T) {
	withWorld(t, func(w *world) {
		if err := w.begin(scenario{during: killPass, deadly: true}); err != nil {
			t.Fatal(err)
		}
		w.rig.reset(point{})
		if err := issue("Crash on start", "agent:bugfix", "")(w); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := w.pass(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.settle(); err != nil {
			t.Fatal(err)
		}
		if n := w.rig.counts().runs; n != work.MaxAttempts {
			t.Errorf("the agent ran %d times, want %d", n, work.MaxAttempts)
		}
		if err := w.sound(); err != nil {
			t.Error(err)
		}
		told := 0
		for _, c := range w.repo.Comments(1) {
			if strings.Contains(c.Body, "never answered") {
				told++
			}
		}
		if told != 1 || !strings.Contains(strings.Join(w.repo.Labels(1), " "), "agent:blocked") {
			t.Errorf("%d comments say so, labels %q", told, w.repo.Labels(1))
		}
	})
}
