package work

import "testing"

func TestSourceOf(t *testing.T) {
	if kind, id := SourceOf(EventKey(2, EventReview, "77", "abc")); kind != EventReview || id != "77" {
		t.Errorf("read %q %q", kind, id)
	}
	for _, key := range []string{"", "2:review", "2:review:77:abc:more"} {
		if kind, id := SourceOf(key); kind != "" || id != "" {
			t.Errorf("%q is read as %q %q", key, kind, id)
		}
	}
}
