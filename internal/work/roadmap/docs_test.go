package roadmap

import (
	"os"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// TestTheExampleInTheDocsHasNoFaults: people copy it word for word.
func TestTheExampleInTheDocsHasNoFaults(t *testing.T) {
	page, err := os.ReadFile("../../../docs/roadmaps.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```markdown\n---\nnodes:\n")
	example, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatal("docs/roadmaps.md has no example of a roadmap's document")
	}
	d, faults := Read([]byte("---\nnodes:\n"+example+"\n"), Bounds{Depth: 1})
	if len(faults) > 0 || len(d.Nodes) != 2 {
		t.Errorf("it has %d nodes and these faults: %q", len(d.Nodes), document.Strings(faults))
	}
}
