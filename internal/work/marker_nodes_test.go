package work

import (
	"reflect"
	"testing"
)

func TestTheMarkerOfATable(t *testing.T) {
	nodes := map[string]int{"api": 12, "ui": 13}
	m, ok := ParseMarks(Mark("A table.", Marks{Token: digest("x"), Nodes: MarkNodes(3, nodes)}))
	if got, read := ParseNodes(m.Nodes, 3); !ok || !read || !reflect.DeepEqual(got, nodes) {
		t.Errorf("read %v, %v, %v", got, read, ok)
	}
	if got, read := ParseNodes(m.Nodes, 4); read {
		t.Errorf("of another roadmap: %v", got)
	}
	if got, read := ParseNodes("nonsense", 3); read {
		t.Errorf("of nonsense: %v", got)
	}
}
