package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A host whose clock was an hour ahead for a while used that time as stamps. Comments made after
// the clock is right again are seen.
func TestClockOfTheHostAheadForAWhile(t *testing.T) {
	m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 5)
	id := int64(50_000)
	write := func(at time.Time) int64 {
		id++
		c := github.Comment{ID: id, Number: 2000, Author: ann, CreatedAt: at, UpdatedAt: at, Body: fmt.Sprint("Rename it. ", id)}
		m.hub.comments = append(m.hub.comments, c)
		m.hub.add("comments", at, c)
		m.hub.sort()
		return id
	}
	passes := func() {
		for i := 0; !m.pass(fate{}); i++ {
			if i > 100 {
				t.Fatal("not done")
			}
		}
	}
	known := func(id int64) (found bool) {
		m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
			events, err := tx.ListEvents(ctx, repo.ID, 2000)
			for _, e := range events {
				found = found || e.Source == fmt.Sprint(id)
			}
			return err
		})
		return found
	}
	passes()
	m.hub.now = noon.Add(time.Hour) // the clock jumps ahead
	for range 12 {
		write(m.hub.now)
		m.hub.now = m.hub.now.Add(time.Second)
	}
	passes()
	m.hub.now = m.hub.now.Add(10 * time.Minute)
	passes()
	m.hub.now = noon.Add(11 * time.Minute) // and is right again
	late := write(m.hub.now)
	passes()
	if !known(late) {
		t.Errorf("a comment of %s is not known:\n%s", m.hub.now, m.progress())
	}
	m.hub.now = m.hub.now.Add(3 * time.Hour)
	passes()
	if !known(late) {
		t.Errorf("nor is it three hours later:\n%s", m.progress())
	}
}
