//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// An agent that answers by the tool is one of the Agent Client Protocol: testdata/helper/acp.go. In
// the first run of a turn it uses the tool, and in later ones it answers in its last message: what
// the tool has of a run that died with its pass may not be taken for theirs.

// firstRun reports whether the run that works is the first one of its turn.
func (w *world) firstRun() bool {
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	n := 0
	for _, r := range w.rig.runs {
		if r.turn == w.rig.runs[len(w.rig.runs)-1].turn {
			n++
		}
	}
	return n == 1
}

var saidIn = regexp.MustCompile(`\(said in run (\d+)\)`)

// heard are the runs, by index, whose words GitHub has.
func (w *world) heard() map[int]bool {
	heard := map[int]bool{}
	for _, m := range saidIn.FindAllStringSubmatch(w.hub.Dump(), -1) {
		n, _ := strconv.Atoi(m[1])
		heard[n-1] = true
	}
	return heard
}

// heardOfTheDead reports words on GitHub of a run whose answer was lost before GitHub had them.
func (w *world) heardOfTheDead() (err error) {
	heard := w.heard()
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	for i, r := range w.rig.runs {
		if heard[i] && r.lost && !r.heard {
			err = errors.Join(err, fmt.Errorf("GitHub has words of run %d (%s), whose answer was lost", i+1, r))
		}
	}
	return err
}
