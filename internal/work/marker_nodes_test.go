package work

import (
	"reflect"
	"testing"
)

func TestTheMarkerOfATable(t *testing.T) {
	want := NodesMark{Roadmap: 3, Run: 4, Made: "d", Nodes: map[string]int{"api": 12, "ui": 13}}
	m, ok := ParseMarks(Mark("A table.", Marks{Token: digest("x"), Nodes: MarkNodes(want)}))
	if got, read := ParseNodes(m.Nodes, 3, 4); !ok || !read || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, %v", got, read, ok)
	}
	if got, read := ParseNodes(m.Nodes, 4, 4); read {
		t.Errorf("of another issue's roadmap: %v", got)
	}
	if got, read := ParseNodes(m.Nodes, 3, 5); read {
		t.Errorf("of another roadmap of the issue: %v", got)
	}
	if got, read := ParseNodes("nonsense", 3, 4); read {
		t.Errorf("of nonsense: %v", got)
	}
}
