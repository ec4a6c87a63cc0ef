//go:build unix

package crashtest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"pgregory.net/rapid"
)

// The merging test plays random histories of pull requests that may be merged: pushes to
// them and to their base, verdicts, checks, rules, holds and freezes, also while a pass
// looks and right before it merges; answers to a merge that are lost or untrue, passes that
// die there, and a database that is gone. Whenever a commit lands, every gate must have
// been open for that very head, by what GitHub had then (model_merge_oracle_test.go), and it
// must be the first time.
//
//	go test ./internal/crashtest -run TestMergeModel                      a few
//	MERGEXO_MODEL=500 go test ./internal/crashtest -run TestMergeModel    so many
//	go test ./internal/crashtest -run TestMergeModel -merges='begin:1 pass answer:5'
var playedMerges = flag.String("merges", "", "play this history of merges")

// commonly is how often each verb is drawn.
var commonly = []struct {
	verb  string
	times int
}{
	{"nothing", 1},
	{"pass", 7},
	{"open", 1},
	{"push", 2},
	{"base", 1},
	{"mood", 1},
	{"approve", 2},
	{"request", 1},
	{"dismiss", 1},
	{"check", 3},
	{"rule", 1},
	{"freeze", 1},
	{"thaw", 2},
	{"hold", 1},
	{"resume", 2},
	{"say", 2},
	{"edit", 1},
	{"draft", 1},
	{"ready", 2},
	{"word", 2},
	{"retry", 1},
	{"forget", 1},
	{"wait", 1},
	{"unknown", 1},
	{"eager", 3},
	{"answer", 6},
	{"meddle", 8},
}

// mergeHistories are other ones for each side, although rapid draws the same for all.
func mergeHistories(side int) *rapid.Generator[chronicle] {
	var verbs []string
	for _, o := range slices.Concat(commonly[:1], commonly[1+side%(len(commonly)-1):], commonly[1:1+side%(len(commonly)-1)]) {
		for range o.times {
			verbs = append(verbs, o.verb)
		}
	}
	one := rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(verbs).Draw(t, "verb"), rapid.IntRange(0, 11).Draw(t, "a"), rapid.IntRange(0, 59).Draw(t, "b")}
	})
	return rapid.Custom(func(t *rapid.T) chronicle {
		begin := chronicle{{verb: "begin", a: rapid.IntRange(0, 7).Draw(t, "policy")}}
		return slices.DeleteFunc(append(begin, rapid.SliceOfN(one, 6, 12).Draw(t, "steps")...), func(s step) bool { return s.verb == "nothing" })
	})
}

// fewMerges is how many histories are made when nobody asks for more.
const fewMerges = 20

// tellingMerges are short histories, each of which goes wrong where one guard of merging is
// missing: the head in the request, the look at the base after an answer that is no answer,
// and the last look.
var tellingMerges = []string{
	"begin:0 pass meddle:2:0 pass pass",
	"begin:0 pass answer:0 pass pass",
	"begin:0 pass meddle:1:1 pass pass",
}

// TestMergesThatTell plays the short histories.
func TestMergesThatTell(t *testing.T) {
	testhome.OnlyLong(t)
	for _, one := range tellingMerges {
		t.Run(one, func(t *testing.T) { playMerges(t, one) })
	}
}

// TestMergeModel: whatever happens in whatever order, a merge lands only with every gate open
// for that very head, and once; and once all gates are open, it lands.
func TestMergeModel(t *testing.T) {
	if *playedMerges != "" {
		playMerges(t, *playedMerges)
		return
	}
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MERGEXO_MODEL"), strconv.Itoa(few(fewMerges))))
	if err != nil {
		t.Fatalf("MERGEXO_MODEL: %v", err)
	}
	if os.Getenv("MERGEXO_MODEL") == "" && flag.Lookup("rapid.seed").Value.String() == "0" {
		if err := flag.Set("rapid.seed", "1"); err != nil { // the few are the same ones every time
			t.Fatal(err)
		}
	}
	side := cap(worlds)
	if err := flag.Set("rapid.checks", strconv.Itoa((n+side-1)/side)); err != nil {
		t.Fatal(err)
	}
	var landed atomic.Int64
	t.Run("histories", func(t *testing.T) {
		for i := range side {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				withWorld(t, func(w *world) {
					rapid.Check(t, func(r *rapid.T) {
						h := mergeHistories(3*i).Draw(r, "history")
						n, err := w.watch(h)
						landed.Add(int64(n))
						if err != nil {
							fmt.Fprintf(os.Stderr, "FAIL -merges='%s'\n", h) // at once: the search for a shorter one takes its time
							r.Fatalf("-merges='%s'\n%v", h, err)
						}
					})
				})
			})
		}
	})
	if got := int(landed.Load()); got < n {
		t.Errorf("%d merges in %d histories: they show nothing", got, n)
	}
}

func playMerges(t *testing.T, text string) {
	h, err := parseHistory(text, func(verb string) bool {
		return slices.Contains([]string{"begin", "pass", "open", "answer", "meddle"}, verb) || mergeDeeds[verb] != nil
	})
	if err != nil {
		t.Fatal(err)
	}
	withWorld(t, func(w *world) {
		if _, err := w.watch(h); err != nil {
			log, _ := os.ReadFile(w.path("log"))
			t.Errorf("%v\nthe passes said:\n%s", err, log)
		}
	})
}
