package ingest

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// Of a database that was lost nothing is read before all that is open was listed: a label would begin what is
// done. A list with more pages than a pass reads is gone on with by the next one.
func TestNothingIsReadBeforeAllThatIsOpenWasListed(t *testing.T) {
	testhome.NotShort(t)
	m := newLostMachine(t, lost{seed: 1, issues: 2*transport.MostPages - 8, pulls: 4, ours: 10}, 2)
	m.pass(fate{})
	if n := m.hub.time.asked; n > transport.MostPages+12 {
		t.Errorf("the first pass asks %d times", n)
	}
	if said := m.progress(); strings.Contains(said, "item ") || !strings.Contains(said, "backlog ") {
		t.Errorf("something was read, or nothing was listed:\n%s", said)
	}
	for !m.pass(fate{}) {
	}
	if said := m.stored(); !strings.Contains(said, "pull 2000 open") || !strings.Contains(said, "item 3000 ") {
		t.Errorf("not all was found:\n%s", said)
	}
}
