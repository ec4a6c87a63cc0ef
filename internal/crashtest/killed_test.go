//go:build unix

package crashtest

import (
	"slices"
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

// The last attempt answers, and its pass is killed before the database knows: the
// answer counts, and not that no attempt is left.
func TestAnAnswerOfTheLastAttemptIsKept(t *testing.T) {
	lastAttempt := func(w *world) {
		die := func(w *world, run agentRun, nth int) error {
			if nth < work.MaxAttempts {
				return killPass(w, run, nth)
			}
			return nil
		}
		if err := w.begin(scenario{during: die}); err != nil {
			t.Fatal(err)
		}
		w.rig.reset(point{})
		if err := steps(issue("Crash on start", "agent:bugfix", ""), killedPasses(work.MaxAttempts-1))(w); err != nil {
			t.Fatal(err)
		}
		w.rig.reset(point{})
	}
	journal := 0
	withWorld(t, func(w *world) {
		lastAttempt(w)
		if ended, err := w.pass(); !ended || err != nil {
			t.Fatalf("the last attempt: %v, %v", ended, err)
		}
		journal = w.rig.changeOf("hash-object", "--no-filters") + 1 // the journal, and then its ref
	})
	withWorld(t, func(w *world) {
		lastAttempt(w)
		w.rig.reset(point{act: actKill, at: atGitChange, n: journal, when: after})
		if ended, err := w.pass(); ended || err != nil || !w.rig.hasStruck() {
			t.Fatalf("it was not killed after git change %d: %v", journal, err)
		}
		if _, err := w.settle(); err != nil {
			t.Fatal(err)
		}
		if n := w.rig.counts().runs; n != work.MaxAttempts || len(w.repo.Pulls()) != 1 {
			t.Errorf("%d runs, %d pull requests", n, len(w.repo.Pulls()))
		}
	})
}

// changeOf is the number, among those that change something, of the first call of
// git that has these words in it.
func (r *rig) changeOf(words ...string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range r.said {
		_, call, git := strings.Cut(line, ": ")
		if !git || !strings.HasPrefix(line, "git ") || !changes(strings.Fields(call)) {
			continue
		}
		n++
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(call, word) }) {
			return n
		}
	}
	return 0
}
