package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

var aRepo = work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}

// fakeHub answers light queries and records the ids of each.
type fakeHub struct {
	mu      sync.Mutex
	queries [][]string
	sick    map[string]bool // pull requests that make every query fail
	gone    map[string]bool // pull requests that GitHub does not know
	down    error           // the error of every query
}

var errSick = errors.New("GitHub cannot answer")

func (f *fakeHub) ask(_ context.Context, _ work.RepoName, ids []string) (github.Sweep, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, ids)
	if f.down != nil {
		return github.Sweep{}, f.down
	}
	s := github.Sweep{Viewer: work.Account{ID: 1}}
	for _, id := range ids {
		switch {
		case f.sick[id]:
			return github.Sweep{}, errSick
		case f.gone[id]:
			s.Missing = append(s.Missing, id)
		default:
			s.Pulls = append(s.Pulls, github.PullLight{NodeID: id})
		}
	}
	return s, nil
}

// pullsOf returns the node ids of a repository's pull requests.
func pullsOf(repo, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%d/%d", repo, i)
	}
	return ids
}

// askAll lets repositories that are read side by side ask about their pull requests.
func askAll(ctx context.Context, s *Sweeper, each [][]string) []PulseAnswer {
	readers := make([]*PulseReader, len(each))
	for i := range each {
		readers[i] = s.reader()
		readers[i].enter()
	}
	answers := make([]PulseAnswer, len(each))
	var wg sync.WaitGroup
	for i, ids := range each {
		wg.Go(func() {
			defer readers[i].leave()
			answers[i] = readers[i].ask(ctx, aRepo, ids)
		})
	}
	wg.Wait()
	return answers
}

// Each repository gets answers about all of its pull requests and no others, in as few queries as
// possible; one that GitHub cannot answer for does not hide the others.
func TestPropertySweeperAnswersEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hub := &fakeHub{sick: map[string]bool{}, gone: map[string]bool{}}
		var each [][]string
		total := 0
		for i := range rapid.IntRange(1, 12).Draw(t, "repositories") {
			ids := pullsOf(i, rapid.IntRange(0, 80).Draw(t, "pull requests"))
			for _, id := range ids {
				switch rapid.IntRange(0, 60).Draw(t, "fate") {
				case 0:
					hub.sick[id] = true
				case 1:
					hub.gone[id] = true
				}
			}
			each, total = append(each, ids), total+len(ids)
		}
		answers := askAll(context.Background(), newSweeper(hub.ask), each)
		for i, ids := range each {
			a := answers[i]
			if a.Err != nil {
				t.Fatalf("repository %d: %v", i, a.Err)
			}
			var told []string
			for _, l := range a.Lights {
				told = append(told, l.NodeID)
			}
			for _, id := range ids {
				light, missing, failed := slices.Contains(told, id), slices.Contains(a.Missing, id), a.Failed[id] != nil
				if failed != hub.sick[id] || missing != hub.gone[id] || light == (failed || missing) {
					t.Fatalf("%s: told %t, missing %t, failed %t", id, light, missing, failed)
				}
			}
			if n := len(a.Lights) + len(a.Missing) + len(a.Failed); n != len(ids) {
				t.Fatalf("repository %d asked about %d, and is told of %d", i, len(ids), n)
			}
		}
		for _, q := range hub.queries {
			if len(q) == 0 || len(q) > github.MaxSweep {
				t.Fatalf("a query about %d", len(q))
			}
		}
		// A query that is sent early because it is full may leave one that is not.
		if most := total/github.MaxSweep + len(each); len(hub.sick) == 0 && len(hub.queries) > most {
			t.Fatalf("%d queries about %d pull requests of %d repositories", len(hub.queries), total, len(each))
		}
	})
}

// A few pull requests of many repositories are one query, sent when the last one has asked.
func TestSweeperSendsOnce(t *testing.T) {
	hub := &fakeHub{}
	var each [][]string
	for i := range 20 {
		each = append(each, pullsOf(i, i%3))
	}
	answers := askAll(t.Context(), newSweeper(hub.ask), each)
	if len(hub.queries) != 1 {
		t.Errorf("%d queries", len(hub.queries))
	}
	for i, a := range answers {
		if len(a.Lights) != len(each[i]) || (a.Viewer.ID == 1) != (len(each[i]) > 0) {
			t.Errorf("repository %d: %+v", i, a)
		}
	}
}

// A repository that never asks does not hold up the others for long, and one that is read again
// asks alone.
func TestSweeperWaitsForNobody(t *testing.T) {
	hub := &fakeHub{}
	s := newSweeper(hub.ask)
	slow, r := s.reader(), s.reader()
	slow.enter()
	r.enter()
	for range 2 {
		if a := r.ask(t.Context(), aRepo, pullsOf(1, 3)); len(a.Lights) != 3 || a.Err != nil {
			t.Errorf("%+v", a)
		}
	}
	slow.leave()
	if len(hub.queries) != 2 {
		t.Errorf("%d queries", len(hub.queries))
	}
}

// A failure of the host or the account is met once and reported to each.
func TestSweeperAsksABrokenHostOnce(t *testing.T) {
	wait := &work.WaitError{Until: time.Unix(1, 0)}
	hub := &fakeHub{down: wait}
	for i, a := range askAll(t.Context(), newSweeper(hub.ask), [][]string{pullsOf(0, 3), pullsOf(1, 2), nil}) {
		if got := errors.Is(a.Err, wait); got != (i < 2) {
			t.Errorf("repository %d: %v", i, a.Err)
		}
	}
	if len(hub.queries) != 1 {
		t.Errorf("%d queries", len(hub.queries))
	}
}

// A server that does not understand the query would refuse each half of it.
func TestSweeperDoesNotHalveWhatTheServerDoesNotUnderstand(t *testing.T) {
	hub := &fakeHub{down: fmt.Errorf("sweep: %w", errNotUnderstood)}
	for i, a := range askAll(t.Context(), newSweeper(hub.ask), [][]string{pullsOf(0, 3), pullsOf(1, 20), nil}) {
		if len(a.Failed) != 0 || (a.Err != nil) != (i < 2) {
			t.Errorf("repository %d: %d pull requests failed: %v", i, len(a.Failed), a.Err)
		}
	}
	if len(hub.queries) != 1 {
		t.Errorf("%d queries", len(hub.queries))
	}
}

// A repository whose time is up gets an error, and the others get answers.
func TestSweeperOutlivesOneThatGoes(t *testing.T) {
	release := make(chan struct{})
	hub := &fakeHub{}
	s := newSweeper(func(ctx context.Context, repo work.RepoName, ids []string) (github.Sweep, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return github.Sweep{}, ctx.Err()
		}
		return hub.ask(ctx, repo, ids)
	})
	hurried, goes := context.WithCancel(t.Context())
	a, b := s.reader(), s.reader()
	a.enter()
	b.enter()
	var gone, stays PulseAnswer
	var wg sync.WaitGroup
	wg.Go(func() { gone = a.ask(hurried, aRepo, pullsOf(0, 1)) })
	wg.Go(func() { stays = b.ask(t.Context(), aRepo, pullsOf(1, 1)) })
	goes()
	wg.Go(func() { close(release) })
	wg.Wait()
	if len(stays.Lights) != 1 || stays.Err != nil {
		t.Errorf("who stays: %+v", stays)
	}
	if gone.Err == nil && len(gone.Lights) != 1 {
		t.Errorf("who goes: %+v", gone)
	}
}
