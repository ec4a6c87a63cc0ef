package work

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func footprint(size string, files ...string) Footprint {
	f := Footprint{Files: map[string]bool{}, Size: size}
	for _, name := range files {
		f.Files[name] = true
	}
	return f
}

func TestScore(t *testing.T) {
	for name, c := range map[string]struct {
		priority int
		waiting  time.Duration
		own      Footprint
		active   []Footprint
		want     float64
	}{
		"alone":                   {3, 0, footprint("S", "src/a.go"), nil, 3},
		"alone and large":         {3, 0, footprint("L", "src/a.go"), nil, 2.5},
		"the same files":          {3, 0, footprint("S", "src/x/a.go"), []Footprint{footprint("S", "src/x/a.go")}, 3 - 5*0.9},
		"half of the files":       {3, 0, footprint("S", "src/x/a.go", "src/x/b.go"), []Footprint{footprint("S", "src/x/a.go")}, 3 - 5*(0.35+0.2)},
		"the same module":         {3, 0, footprint("S", "src/x/y/a.go"), []Footprint{footprint("S", "src/x/z/b.go")}, 2},
		"the worst of many":       {3, 0, footprint("S", "src/x/a.go"), []Footprint{footprint("S", "b/b/b"), footprint("S", "src/x/a.go"), footprint("S", "c")}, 3 - 5*0.9},
		"waiting raises":          {3, 96 * time.Hour, footprint("S", "src/x/a.go"), []Footprint{footprint("S", "src/x/a.go")}, 3 - 5*0.9 + 2},
		"nothing is known of it":  {1, 0, footprint(""), []Footprint{footprint("S", "a")}, 1},
		"files of the root alone": {3, 0, footprint("S", "a"), []Footprint{footprint("S", "b")}, 2},
	} {
		if got := ScoreOf(c.priority, c.waiting, c.own, c.active); math.Abs(got.Total-c.want) > 1e-9 {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
}

// However much it collides, waiting brings an item's score above any bound.
func TestScoreRisesByWaiting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "d/e/f"})
		files := rapid.SliceOfN(name, 0, 4)
		own := footprint("L", files.Draw(t, "own")...)
		active := []Footprint{footprint("S", files.Draw(t, "other")...)}
		s := ScoreOf(1, 0, own, active)
		if s.Risk < 0 || s.Risk > 1.0001 {
			t.Fatalf("risk %v", s.Risk)
		}
		wait := time.Duration(conflictWeight/waitingWeight+1) * 24 * time.Hour
		if late := ScoreOf(1, wait, own, active); late.Total < 0 {
			t.Fatalf("after %s: %+v", wait, late)
		}
	})
}
