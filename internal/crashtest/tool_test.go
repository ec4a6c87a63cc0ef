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

// heardOfTheDead reports words on GitHub of a run whose answer died with its pass.
func (w *world) heardOfTheDead() (err error) {
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	for _, m := range saidIn.FindAllStringSubmatch(w.hub.Dump(), -1) {
		if n, _ := strconv.Atoi(m[1]); n > 0 && n <= len(w.rig.runs) && w.rig.runs[n-1].lost {
			err = errors.Join(err, fmt.Errorf("GitHub has words of run %d (%s), whose answer was lost", n, w.rig.runs[n-1]))
		}
	}
	return err
}
