package folder

import (
	"slices"
	"testing"
	"time"
)

// A wait is reported once, until its text changes or something is done.
func TestTellOutcomes(t *testing.T) {
	d, now := Dirs{State: t.TempDir()}, time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)
	wait := func(says string) Outcome { return Outcome{Key: "octo/app#2 merge", Says: says, Waits: true} }
	steps := []struct {
		name string
		all  []Outcome
		want []bool
	}{
		{"first", []Outcome{wait("refused, asked again at 04:01")}, []bool{true}},
		{"again, at another time", []Outcome{wait("refused, asked again at 04:02")}, []bool{false}},
		{"beside another", []Outcome{wait("refused, asked again at 04:03"), {Key: "octo/app#3 merge", Says: "refused", Waits: true}}, []bool{false, true}},
		{"for something else", []Outcome{wait("a freeze")}, []bool{true}},
		{"a pass without it", nil, []bool{}},
		{"the same after that", []Outcome{wait("a freeze")}, []bool{false}},
		{"done", []Outcome{{Key: "octo/app#2 merge", Says: "merged"}}, []bool{true}},
		{"done is always told", []Outcome{{Key: "octo/app#2 merge", Says: "merged"}}, []bool{true}},
		{"waits again", []Outcome{wait("a freeze")}, []bool{true}},
	}
	for _, s := range steps {
		if got := d.OutcomesToReport(s.all, now); !slices.Equal(got, s.want) {
			t.Errorf("%s: told %v, want %v", s.name, got, s.want)
		}
		now = now.Add(time.Minute)
	}
	if got := d.OutcomesToReport([]Outcome{wait("a freeze")}, now.Add(25*time.Hour)); !got[0] {
		t.Error("what no pass met for a day is not told again")
	}
}
