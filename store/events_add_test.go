package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// burstOf are new comments on one pull request.
func burstOf(repoID, itemID int64, n int) []work.Event {
	events := make([]work.Event, n)
	for i := range events {
		events[i] = work.Event{RepoID: repoID, ItemID: itemID, Number: 2, Key: fmt.Sprint("burst ", i), Kind: work.EventIssue, Source: fmt.Sprint("burst ", i)}
	}
	return events
}

// newestOf say of comments that they are the newest versions.
func newestOf(events []work.Event) []Version {
	versions := make([]Version, len(events))
	for i, e := range events {
		versions[i] = Version{Newest: e.ID, RepoID: e.RepoID, Number: e.Number, Kind: e.Kind, Source: e.Source}
	}
	return versions
}

// A slice of many comments goes in with as few statements as one of a few: what is asked
// for each of them grows with the burst.
func TestManyEventsTakeFewStatements(t *testing.T) {
	d, asked := recording(t, newPath(t))
	r := addRepo(t, d)
	sent := func(n int, what string) (count int) {
		asked.mu.Lock()
		asked.sent = nil
		asked.mu.Unlock()
		update(t, d, func(tx *Tx) error {
			events := burstOf(r.ID, 0, n)
			for i := range events {
				events[i].Key += what
			}
			added, err := tx.AddEvents(t.Context(), events)
			if err == nil && len(added) != n {
				err = fmt.Errorf("%d of %d were added", len(added), n)
			}
			if err == nil {
				_, err = tx.SupersedeOlderVersions(t.Context(), newestOf(added), t0)
			}
			return err
		})
		for _, query := range asked.sent {
			if strings.Contains(query, " events") {
				count++
			}
		}
		return count
	}
	if few, many := sent(3, "few"), sent(3*longStep, "many"); few != 6 || many != 6 { // three inserts; three updates
		t.Errorf("3 events took %d statements, %d took %d, want 6 each", few, 3*longStep, many)
	}
}

// bothOf are versions of comments under both kinds that they may have, as ingest asks
// for them: an edit may make a command of a comment, or make it none.
func bothOf(events []work.Event) []Version {
	other := map[work.EventKind]work.EventKind{work.EventIssue: work.EventCommand, work.EventCommand: work.EventIssue}
	var all []Version
	for _, v := range newestOf(events) {
		all = append(all, v)
		v.Kind = other[v.Kind]
		all = append(all, v)
	}
	return all
}

// drawSlice draws versions of a few comments: some keys stand in it twice, some were stored by an
// earlier slice.
func drawSlice(rt *rapid.T, repoID int64, nth int) []work.Event {
	slice := make([]work.Event, rapid.IntRange(0, longStep+shortStep+2).Draw(rt, "events"))
	for i := range slice {
		e := work.Event{
			RepoID: repoID,
			Number: rapid.IntRange(1, 2).Draw(rt, "number"),
			Kind:   rapid.SampledFrom([]work.EventKind{work.EventIssue, work.EventCommand}).Draw(rt, "kind"),
			Source: rapid.SampledFrom([]string{"7", "8", "9"}).Draw(rt, "source"),
			Body:   fmt.Sprint("drawn ", nth, " ", i), // tells which of two with one key was kept
		}
		e.Key = fmt.Sprint(e.Number, e.Source, rapid.IntRange(1, 20).Draw(rt, "version"))
		if rapid.Bool().Draw(rt, "processed") {
			e.Outcome, e.ProcessedAt = "ignored: bot", t0
		}
		slice[i] = e
	}
	return slice
}

// known is a repository's events as storing them one after the other leaves them: a known key
// is left as it is, and a new version ends those of its comment that wait.
type known []work.Event

func (k *known) add(e work.Event) bool {
	if slices.ContainsFunc(*k, func(o work.Event) bool { return o.Key == e.Key }) {
		return false
	}
	for i := range *k {
		if o := &(*k)[i]; o.Number == e.Number && o.Source == e.Source && o.ProcessedAt.IsZero() {
			o.Outcome, o.ProcessedAt = OutcomeEdited, t0.Add(time.Hour)
		}
	}
	*k = append(*k, e)
	return true
}

// linesOf are events as a test compares them.
func linesOf(events []work.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%s %s %s %q %d", e.Key, e.Kind, e.Body, e.Outcome, millis(e.ProcessedAt)))
	}
	return out
}

// Many events are stored as one after the other would be: each key once, the first of it,
// and of each comment's versions that wait only the newest.
func TestManyEventsAreAsOneAfterTheOther(t *testing.T) {
	d, repos := newDB(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		repos++
		r := inTx(t, d, func(tx *Tx) (work.Repo, error) {
			return tx.EnsureRepo(t.Context(), work.RepoName{Host: "github.com", Owner: "o", Name: fmt.Sprint("r", repos)})
		})
		var want known
		ids := map[string]int64{} // as AddEvents gives them
		for nth := range rapid.IntRange(1, 3).Draw(rt, "slices") {
			var fresh []work.Event
			slice := drawSlice(rt, r.ID, nth)
			for _, e := range slice {
				if want.add(e) {
					fresh = append(fresh, e)
				}
			}
			added := inTx(t, d, func(tx *Tx) ([]work.Event, error) {
				added, err := tx.AddEvents(t.Context(), slice)
				if err == nil {
					_, err = tx.SupersedeOlderVersions(t.Context(), bothOf(added), t0.Add(time.Hour))
				}
				return added, err
			})
			same(rt, "new", linesOf(added), linesOf(fresh))
			for _, e := range added {
				ids[e.Body] = e.ID
			}
		}
		var got, of known
		for number := 1; number <= 2; number++ {
			got = append(got, inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListEvents(t.Context(), r.ID, number) })...)
			of = append(of, slices.DeleteFunc(slices.Clone(want), func(e work.Event) bool { return e.Number != number })...)
		}
		same(rt, "stored", linesOf(got), linesOf(of))
		for _, e := range got {
			if ids[e.Body] != e.ID {
				rt.Fatalf("%s is said to be %d, and is %d", e.Body, ids[e.Body], e.ID)
			}
		}
	})
}

func same(rt *rapid.T, what string, got, want []string) {
	if !slices.Equal(got, want) {
		rt.Fatalf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
