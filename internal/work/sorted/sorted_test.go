package sorted

import (
	"cmp"
	"slices"
	"testing"
)

func TestEqualElementsKeepTheirOrder(t *testing.T) {
	type pair struct{ key, place int }
	var list []pair
	for i := range 200 {
		list = append(list, pair{i * 7 % 5, i})
	}
	got := Values(slices.Values(list), func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	want := func(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place)) }
	if len(got) != len(list) || !slices.IsSortedFunc(got, want) || slices.IsSortedFunc(list, want) {
		t.Errorf("%v becomes %v", list, got)
	}
	By(list, want)
	if !slices.Equal(list, got) {
		t.Errorf("By and Values differ: %v, %v", list, got)
	}
}
