package transport_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// said is a comment of a conversation.
type said struct {
	ID      int64     `json:"id"`
	Body    string    `json:"body"`
	Changed time.Time `json:"updated_at"`
}

// hub is a conversation that people change between any two requests.
type hub struct {
	now   time.Time
	talk  []said
	last  int64
	page  int
	left  int // requests that this pass may make
	asked int
	moves func()
}

var errLate = errors.New("the time is up")

// read returns a page by its number.
func (h *hub) read(_ context.Context, address string) (items []said, next string, err error) {
	if h.left--; h.left < 0 {
		return nil, "", errLate
	}
	h.asked++
	h.moves()
	h.now = h.now.Add(time.Second)
	at, page, _ := strings.Cut(address, "#")
	n, _ := strconv.Atoi(page)
	since, _ := time.Parse(time.RFC3339, at)
	all := slices.DeleteFunc(slices.Clone(h.talk), func(s said) bool { return s.Changed.Before(since) })
	from := min(len(all), n*h.page)
	to := min(len(all), from+h.page)
	if to < len(all) {
		next = fmt.Sprint(at, "#", n+1)
	}
	return all[from:to], next, nil
}

func (h *hub) whole(ctx context.Context) ([]said, error) {
	l := transport.PagedList[said]{Page: h.read, Now: h.now}
	address := func(since time.Time) string {
		if since.IsZero() {
			return "#0"
		}
		return since.Format(time.RFC3339) + "#0"
	}
	return transport.ChangingList[said]{PagedList: l, Address: address, ID: func(s said) int64 { return s.ID }}.Since(ctx, time.Time{})
}

func (h *hub) write() {
	h.last++
	h.talk = append(h.talk, said{h.last, fmt.Sprint("body ", h.last), h.now})
}

// shelf stores lists between passes.
type shelf struct{ lists, read map[string]transport.KeptPart }

func (s *shelf) Find(_ context.Context, list string) (transport.KeptPart, error) {
	if _, again := s.read[list]; again {
		return transport.KeptPart{}, nil
	}
	return s.lists[list], nil
}

func (s *shelf) Keep(_ context.Context, list string, part func() (transport.KeptPart, error), _ error) {
	p, err := part()
	if err != nil {
		panic(err)
	}
	s.read[list] = p
}

// pass ends a pass: what it read is stored.
func (s *shelf) pass() {
	for list, p := range s.read {
		p.Pages = slices.Concat(s.lists[list].Pages[:p.Same], p.Pages)
		s.lists[list] = p
	}
	s.read = map[string]transport.KeptPart{}
}

// TestWhatIsReadByManyPasses: people write and edit between any two requests of passes with few
// requests each, and delete between any two passes. The final result has everything that existed
// when the last pass began, once each, in its state at that time.
func TestWhatIsReadByManyPasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &hub{now: noon, page: rapid.IntRange(2, 7).Draw(rt, "page"), moves: func() {}}
		for range rapid.IntRange(0, 80).Draw(rt, "comments") {
			h.now = h.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 600}).Draw(rt, "later")) * time.Second)
			h.write()
		}
		lively := rapid.SampledFrom([]int{0, 10, 50}).Draw(rt, "lively")
		h.moves = func() {
			if len(h.talk) == 0 || rapid.IntRange(1, 100).Draw(rt, "moves") > lively {
				return
			}
			if rapid.Bool().Draw(rt, "edits") {
				at := rapid.IntRange(0, len(h.talk)-1).Draw(rt, "which")
				h.talk[at].Body += "!"
				h.talk[at].Changed = h.now
			} else {
				h.write()
			}
		}
		s := &shelf{lists: map[string]transport.KeptPart{}, read: map[string]transport.KeptPart{}}
		for i := 0; ; i++ {
			if i > 300 {
				rt.Fatalf("not read after %d passes", i)
			}
			if i == 60 {
				h.moves = func() {} // people sleep
			}
			h.now = h.now.Add(time.Minute)
			for range rapid.IntRange(0, lively/10).Draw(rt, "deletions") {
				if at := rapid.IntRange(0, 100).Draw(rt, "from"); at < len(h.talk) {
					h.talk = slices.Delete(h.talk, at, min(len(h.talk), at+rapid.IntRange(1, 2*h.page).Draw(rt, "deleted")))
				}
			}
			h.left = rapid.IntRange(5, 12).Draw(rt, "allowed")
			before := slices.Clone(h.talk)
			all, err := h.whole(transport.WithKept(t.Context(), s))
			if err == nil {
				check(rt, before, h.talk, all)
				return
			}
			if rapid.IntRange(0, 9).Draw(rt, "dies") == 0 {
				s.read = map[string]transport.KeptPart{}
			}
			s.pass()
		}
	})
}

// check compares the result with the comments before and after the last pass.
func check(rt *rapid.T, before, after, read []said) {
	rt.Helper()
	known := map[int64]said{}
	for i, r := range read {
		if _, twice := known[r.ID]; twice || i > 0 && r.ID < read[i-1].ID {
			rt.Fatalf("%d is read twice, or out of order: %v", r.ID, read)
		}
		known[r.ID] = r
	}
	for _, b := range before {
		at := slices.IndexFunc(after, func(a said) bool { return a.ID == b.ID })
		if at < 0 {
			continue // deleted since
		}
		if got, ok := known[b.ID]; !ok || len(got.Body) < len(b.Body) {
			rt.Fatalf("%+v was there before the last pass, and %+v (%v) was read of %d", b, got, ok, len(read))
		}
	}
}

// Stored parts of another version that cannot be decoded are ignored.
func TestWhatCannotBeReadAnyMore(t *testing.T) {
	h := &hub{now: noon, page: 2, left: 10, moves: func() {}}
	for range 5 {
		h.write()
	}
	kept := transport.KeptPart{Begun: noon, Pages: []transport.KeptPage{{URL: "#0", Items: `[{"id":1}]`}, {URL: "#1", Items: `[{"id":"two"}]`}}}
	s := &shelf{lists: map[string]transport.KeptPart{"#0": kept}, read: map[string]transport.KeptPart{}}
	all, err := h.whole(transport.WithKept(t.Context(), s))
	if err != nil || len(all) != 5 || h.asked != 3 || s.read["#0"].Same != 0 {
		t.Errorf("%v, %v, %d requests, kept %+v", all, err, h.asked, s.read)
	}
}
