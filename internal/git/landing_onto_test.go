package git

import "testing"

// Commits that a head shares with the base it was approved for are not part of the change: merging
// would add them to a base that lacks them.
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
		onto, tip string
		want      bool
	}{
		"the same base": {main, main, false}, "a newer one": {main, newer, false}, "an older one": {main, first, true}, "another one": {main, aside, true},
		"approved for an older one": {first, main, false}, "approved for one that shares less": {aside, first, false},
		"nobody knows for which": {"1111111111111111111111111111111111111111", main, true},
	} {
		got, err := w.mirror.AddsBaseCommits(t.Context(), x.onto, x.tip, head)
		if err != nil || got != x.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
