package git

import "testing"

// The merge bases that a head was approved with say which commits were part of the change. Merging
// brings no others only where the base has them all.
func TestWhatWouldComeAlong(t *testing.T) {
	w := newWorld(t, map[string]string{"text": lines})
	first := w.head()
	w.at("main", first)
	w.hosted("commit", "-q", "--allow-empty", "-m", "nobody's business of an older base")
	main := w.head()
	w.at("topic", main)
	w.hosted("commit", "-q", "--allow-empty", "-m", "the change")
	head := w.head()
	w.at("newer", main)
	w.hosted("commit", "-q", "--allow-empty", "-m", "later")
	newer := w.head()
	w.at("aside", first)
	w.hosted("commit", "-q", "--allow-empty", "-m", "elsewhere")
	aside := w.head()
	w.publish()
	for name, x := range map[string]struct {
		approved, tip string
		want          bool
	}{
		"the same base": {main, main, true}, "a newer one": {main, newer, true}, "an older one": {main, first, false}, "another one": {main, aside, false},
		"approved for an older one": {first, main, true}, "approved for one that shares less": {aside, first, true},
	} {
		bases, err := w.mirror.MergeBases(t.Context(), x.approved, head)
		w.check(err)
		got, err := w.mirror.BringsNoMore(t.Context(), bases, x.tip)
		if err != nil || got != x.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, unknown := range []string{"1111111111111111111111111111111111111111", "none", ""} {
		if got, err := w.mirror.BringsNoMore(t.Context(), unknown, main); err != nil || got {
			t.Errorf("%q: %v, %v", unknown, got, err)
		}
	}
}

// A head and a base that merged each other have two merge bases. Both count, in one order.
func TestTwoMergeBases(t *testing.T) {
	w := newWorld(t, map[string]string{"text": lines})
	first := w.head()
	w.at("topic", first)
	w.hosted("commit", "-q", "--allow-empty", "-m", "the change")
	one := w.head()
	w.at("main", first)
	w.hosted("commit", "-q", "--allow-empty", "-m", "theirs")
	two := w.head()
	w.hosted("merge", "-q", "--no-ff", "-m", "theirs has ours", one)
	tip := w.head()
	w.at("topic", one)
	w.hosted("merge", "-q", "--no-ff", "-m", "ours has theirs", two)
	head := w.head()
	w.publish()
	bases, err := w.mirror.MergeBases(t.Context(), tip, head)
	if err != nil || bases != min(one, two)+"-"+max(one, two) {
		t.Fatalf("%s: %v", bases, err)
	}
	for onto, want := range map[string]bool{tip: true, one: false, two: false} {
		if got, err := w.mirror.BringsNoMore(t.Context(), bases, onto); err != nil || got != want {
			t.Errorf("onto %s: %v, %v", onto, got, err)
		}
	}
}
