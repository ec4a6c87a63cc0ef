package known

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"pgregory.net/rapid"
)

// TestWithout compares with slices.DeleteFunc on a copy, and checks that the list is unchanged.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []work.Event
		for _, id := range rapid.SliceOfN(rapid.Int64Range(0, 3), 0, 8).Draw(t, "ids") {
			events = append(events, work.Event{ID: id})
		}
		before := slices.Clone(events)
		gone := func(e work.Event) bool { return e.ID == 0 }
		got := Without(events, gone)
		if want := slices.DeleteFunc(slices.Clone(events), gone); !slices.Equal(got, want) {
			t.Fatalf("of %v it leaves %v, not %v", before, got, want)
		}
		if !slices.Equal(events, before) {
			t.Fatalf("%v became %v", before, events)
		}
	})
}
