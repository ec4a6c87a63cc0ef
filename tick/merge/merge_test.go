package merge

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// What was chosen is merged, found, compared and told.
func TestMergesWhatWasChosen(t *testing.T) {
	s := newStage(t)
	s.pass()
	tip, _ := s.sim.Head("main")
	row := s.row()
	if s.outcome() != "merged" || row.Stage != merging.Landed || row.Commit != tip || row.Landed != row.Tree || row.Differs != "" || row.Method != merging.Squash {
		t.Fatalf("%s: %+v, main at %s\n%s", s.outcome(), row, tip, &s.log)
	}
	before := len(s.hub.Requests())
	s.later(10 * time.Second)
	s.run()
	if _, there := s.sim.Head(branch); there {
		t.Error("the branch is there")
	}
	_ = before
}
