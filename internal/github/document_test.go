package github

import (
	"strings"
	"testing"
)

// A server that lacks optional fields is asked once with them, and from then on without. One that
// lacks a field that we need is asked once.
func TestAFieldThatTheServerLacks(t *testing.T) {
	w := newWorld(t)
	ids := w.pulls(t, 2)
	asks := func(what string, most int, ask func() error) error {
		t.Helper()
		w.hub.ResetLog()
		err := ask()
		if n := len(w.hub.Requests()); n != most {
			t.Errorf("%s: %d requests, not %d", what, n, most)
		}
		return err
	}
	sweep := func() error {
		s, err := w.client.Sweep(t.Context(), w.name, ids)
		if err == nil && (len(s.Pulls) != 2 || s.Pulls[1].NodeID != ids[1] || s.Pulls[1].Fingerprint == "") {
			t.Errorf("%+v", s)
		}
		return err
	}
	left := 0
	for line := range strings.Lines(sweepQuery()) {
		field, isOptional := strings.CutSuffix(strings.TrimSpace(line), " # optional")
		if !isOptional {
			continue
		}
		left++
		field, _, _ = strings.Cut(field, " ")
		w.hub.LackField("PullRequest", field)
		w.client = w.newClient(t, "") // what the last one learned is that of its process
		must(t, asks("the first query without "+field, 2, sweep))
		must(t, asks("the next query without "+field, 1, sweep))
	}
	if left < 3 {
		t.Fatalf("%d optional fields", left)
	}

	w.hub.LackField("PullRequest", "headRefOid")
	for i, most := range []int{1, 0, 0} {
		if err := asks("a query without what we need", most, sweep); IsItemError(err) || !IsStatus(err, 400) || !strings.Contains(err.Error(), "headRefOid") {
			t.Errorf("query %d: %v", i, err)
		}
	}
	details := func() error {
		_, _, err := w.client.Details(t.Context(), ids)
		return err
	}
	if err := asks("details without what we need", 1, details); IsItemError(err) || !IsStatus(err, 400) {
		t.Errorf("details: %v", err)
	}
}
