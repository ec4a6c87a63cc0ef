package work

import "testing"

// What is stored of a place is that place, and what people read of it never counts more than
// there are.
func TestPlace(t *testing.T) {
	for _, p := range []FirstLook{{All: 8}, {Part: 3, All: 8}, {After: "x", Seen: 200, Part: 40, All: 3000}, {After: "y", Seen: 300, All: 250}} {
		got, underWay := ParseFirstLook(p.String())
		if !underWay || got != p {
			t.Errorf("%+v is stored as %s, which is %+v", p, p, got)
		}
	}
	for _, stored := range []string{"", FirstLookDone, "https://example.com/?page=3"} {
		if p, underWay := ParseFirstLook(stored); underWay || p != (FirstLook{}) {
			t.Errorf("%q is the place %+v", stored, p)
		}
	}
	for _, c := range []struct {
		at   FirstLook
		says string
	}{
		{FirstLook{All: 8}, "0 of 8 open pull requests are looked at so far; the next pass resumes there"},
		{FirstLook{After: "x", Seen: 200, Part: 40, All: 3000}, "240 of 3000 open pull requests are looked at so far; the next pass resumes there"},
		{FirstLook{After: "y", Seen: 300, All: 250}, "250 of 250 open pull requests are looked at so far; the next pass resumes there"},
	} {
		if got := c.at.Resumes(); got != c.says {
			t.Errorf("of %+v people read %q", c.at, got)
		}
	}
}
