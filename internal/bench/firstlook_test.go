//go:build unix

package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// authors is how many people wrote on a pull request that a lost database knew: fewer than
// are asked about in one pass.
const authors = 48

// TestFirstLookAsksSideBySide has many people's comments on a pull request found again after a lost database.
// Whose words count is asked side by side: each by itself would be as many rounds as people.
func TestFirstLookAsksSideBySide(t *testing.T) {
	testhome.OnlyLong(t)
	// The repository, the lists, what is open, the pull request and its issue, one after the other; and
	// then 48 people, eight at a time.
	const most = 14 + authors/8
	var p trip
	for _, distance := range distances {
		w := newLostWorld(t, self(t), shape{repos: 1, pulls: 1})
		w.quietPeriod = "1h"
		w.past.Store(true)
		for i := range authors {
			login := fmt.Sprintf("author%d", i)
			_, err := w.hub.AddUser(login)
			must(t, err)
			must(t, w.repo.SetPermission(login, "write"))
			_, err = w.repo.Comment(w.numbers()[0], login, "Rename it.")
			must(t, err)
		}
		w.past.Store(false)
		w.writeConfig(t, quiet)
		p = w.travel(t, distance)
		if n := w.count(t, `SELECT COUNT(DISTINCT author_id) FROM events WHERE outcome = ''`); n != authors {
			t.Fatalf("the words of %d people count, not of %d\n%s", n, authors, p)
		}
		if n := p.asksOf("/permission"); n != authors+1 { // and about who wrote the issue
			t.Fatalf("%d times it is asked what people may do\n%s", n, p)
		}
		p = p.until("GET", ".*/permission")
		if testing.Verbose() {
			t.Logf("each request takes %s: %s", distance, p)
		}
		if p.rounds() <= most {
			return
		}
	}
	t.Errorf("want at most %d rounds; got %s", most, p)
}

// asksOf is how many requests have addresses that end so.
func (p trip) asksOf(end string) (n int) {
	for _, a := range p.requests {
		if strings.HasSuffix(a.Path, end) {
			n++
		}
	}
	return n
}
