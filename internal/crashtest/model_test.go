//go:build unix

package crashtest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"pgregory.net/rapid"
)

// The model test plays random histories: people who talk, change their minds,
// push and close; passes, side by side too, that die, lose answers and lose
// their database. When nothing happens any more, what must hold of every
// history is looked at (model_check_test.go).
//
//	go test ./internal/crashtest -run TestModel                      a few
//	MERGEXO_MODEL=500 go test ./internal/crashtest -run TestModel    so many; -timeout may be needed
//
// rapid prints the seed of a failure (-rapid.seed=N), and writes the failure to
// testdata/rapid (-rapid.failfile=F). A history is a line of words, so that one
// can also be played again, or with words taken out, without either:
//
//	go test ./internal/crashtest -run TestModel/played -history='open pass review:0:1 pass'
//
// The order in which the requests of one pass arrive is not part of a history:
// what dies at request 17 may be another request the next time.
var played = flag.String("history", "", "play this one")

// step is one thing that happens. Its numbers choose among what there is.
type step struct {
	verb string
	a, b int
}

func (s step) String() string { return fmt.Sprintf("%s:%d:%d", s.verb, s.a, s.b) }

type chronicle []step

func (h chronicle) String() string {
	words := make([]string, len(h))
	for i, s := range h {
		words[i] = s.String()
	}
	return strings.Join(words, " ")
}

// parseHistory reads what String wrote; numbers may be left out.
func parseHistory(text string, known func(verb string) bool) (h chronicle, err error) {
	for word := range strings.FieldsSeq(text) {
		parts := strings.Split(word, ":")
		s := step{verb: parts[0]}
		for i, into := range []*int{&s.a, &s.b} {
			if len(parts) > i+1 {
				if *into, err = strconv.Atoi(parts[i+1]); err != nil {
					return nil, fmt.Errorf("read %q: %w", word, err)
				}
			}
		}
		if !known(s.verb) {
			return nil, fmt.Errorf("there is no %q", s.verb)
		}
		h = append(h, s)
	}
	return h, nil
}

// often is how often each verb is drawn. Simple ones come first, rapid shrinks
// towards them: to nothing, which is left out.
var often = []struct {
	verb  string
	times int
}{
	{"nothing", 1},
	{"pass", 4},
	{"open", 2},
	{"review", 5},
	{"say", 4},
	{"ask", 2},
	{"reply", 2},
	{"sum", 2},
	{"stranger", 1},
	{"edit", 4},
	{"revert", 1},
	{"delete", 2},
	{"resolve", 2},
	{"unresolve", 1},
	{"push", 4},
	{"force", 1},
	{"close", 1},
	{"reopen", 2},
	{"shut", 1},
	{"unshut", 1},
	{"unlabel", 1},
	{"label", 2},
	{"ignore", 2},
	{"heed", 2},
	{"command", 5},
	{"merge", 1},
	{"hold", 4},
	{"release", 3},
	{"pair", 2},
	{"kill", 2},
	{"strike", 9},
	{"forget", 2},
}

func histories() *rapid.Generator[chronicle] {
	var verbs []string
	for _, o := range often {
		for range o.times {
			verbs = append(verbs, o.verb)
		}
	}
	one := rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(verbs).Draw(t, "verb"), rapid.IntRange(0, 11).Draw(t, "a"), rapid.IntRange(0, 59).Draw(t, "b")}
	})
	return rapid.Custom(func(t *rapid.T) chronicle {
		begin := chronicle{{verb: "open", a: rapid.IntRange(0, 2).Draw(t, "flow")}, {verb: "pass"}}
		return slices.DeleteFunc(append(begin, rapid.SliceOfN(one, 12, 30).Draw(t, "steps")...), func(s step) bool { return s.verb == "nothing" })
	})
}

// fewHistories is how many are made when nobody asks for more.
const fewHistories = 8

// few is a quarter of a number unless the whole of the tests is asked for.
func few(n int) int {
	if testhome.Long() {
		return n
	}
	return n / 4
}

// TestModel has people, passes and GitHub do anything in any order: nothing is
// repeated, nothing is lost, and the database may be deleted at any moment.
func TestModel(t *testing.T) {
	if *played != "" {
		t.Run("played", func(t *testing.T) { playOne(t, *played) })
		return
	}
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MERGEXO_MODEL"), strconv.Itoa(few(fewHistories))))
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
	var lived atomic.Int64
	for i := range side {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			withWorld(t, func(w *world) {
				rapid.Check(t, func(r *rapid.T) {
					h := histories().Draw(r, "history")
					err := w.undergo(h)
					if lived.Add(1)%50 == 0 {
						fmt.Fprintln(os.Stderr, "model:", lived.Load(), "histories")
					}
					if err != nil {
						fmt.Fprintf(os.Stderr, "FAIL -history='%s'\n", h) // at once: the search for a shorter one takes its time
						r.Fatalf("-history='%s'\n%v", h, err)
					}
				})
			})
		})
	}
}

func playOne(t *testing.T, text string) {
	h, err := parseHistory(text, func(verb string) bool { return deeds[verb] != nil })
	if err != nil {
		t.Fatal(err)
	}
	withWorld(t, func(w *world) {
		if err := w.undergo(h); err != nil {
			log, _ := os.ReadFile(w.path("log"))
			t.Errorf("%v\nthe passes said:\n%s", err, log)
		}
	})
}
