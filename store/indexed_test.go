package store

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// indexedTexts are the texts in indexes and keys, with their longest bytes: of names that the config or
// GitHub bounds, of numbers and digests, and of the program's own words. PostgreSQL refuses rows of an index
// beyond 2,704 bytes.
var indexedTexts = map[string]int{
	// A host has at most 253 bytes, as the names of owners and repositories: see work.ParseRepoName.
	"repositories.name_key": 3*253 + 2 + 100, "dependencies.ref": 3*253 + 22, "sub_issues.ref": 3*253 + 22, "idle_issues.ref": 3*253 + 22, "work_items.parent_ref": 3*253 + 22, "hosts.host": 253, "accounts.host": 253, "clocks.host": 253, "counters.host": 253,
	"notifications.key": 30 + 3*253 + 22 + 150,

	// Agents, reviewers, targets and machines have short names: see package config.
	"installations.id": 17, "signs.installation": 80,
	"agent_sessions.agent": 40, "outages.agent": 40, "outages.machine": 63, "totals.agent": 40, "totals.reviewer": 40, "reviews.reviewer": 40, "review_calls.reviewer": 40,
	"notifications.target": 40, "notify_targets.target": 40, "machines.name": 63, "clocks.machine": 63, "counters.machine": 63, "notifications.machine": 63, "totals.machine": 63,

	// Digests, and ids of GitHub.
	"actions.token": 64, "turns.turn_key": 64, "turns.commit_oid": 64, "merges.head": 64, "merge_words.head": 64, "reviews.head": 64, "reviews.merge_base": 64,
	"review_calls.head": 64, "findings.id": 64, "events.event_key": 10 + 40 + 64 + 64, "events.source": 64, "history.key": 300,

	// Words of the program, and limits of GitHub's API and of documents.
	"roadmaps.state": 40, "roadmap_nodes.node": 100,
	"agent_sessions.role": 40, "events.kind": 40, "turns.kind": 40, "totals.kind": 40, "totals.what": 40, "totals.outcome": 40, "notify_targets.what": 40, "reading.what": 40,
	"pull_reviews.state": 40, "pull_reviews.policy": 64, "counters.api": 40, "counters.outcome": 40, "hosts.resource": 64,

	"reading.key":    longestURL,
	"events.outcome": longestOutcome,
}

const longestEntry = 2600

// TestIndexedTextsAreBounded: each text in an index of the schema is in the table above, and the texts of each
// index fit into a row of it.
func TestIndexedTextsAreBounded(t *testing.T) {
	d := newFile(t)
	type entry struct{ table, index, column string }
	var all []entry
	update(t, d, func(tx *Tx) (err error) {
		all, err = listRows(t.Context(), tx, "list indexes", func(row scanner) (e entry, err error) { return e, row.Scan(&e.table, &e.index, &e.column) },
			`SELECT m.name, i.name, c.name FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) x, pragma_table_info(m.name) c
			 WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND c.name = x.name AND c.type = 'TEXT' ORDER BY 1, 2, 3`)
		return err
	})
	bytes, seen := map[string]int{}, map[string]bool{}
	for _, e := range all {
		column := e.table + "." + e.column
		bound, known := indexedTexts[column]
		if !known {
			t.Errorf("%s is in the index %s: say here what bounds it", column, e.index)
		}
		seen[column] = true
		if bytes[e.index] += bound; bytes[e.index] > longestEntry {
			t.Errorf("the texts of %s have %d bytes", e.index, bytes[e.index])
		}
	}
	for column := range indexedTexts {
		if !seen[column] {
			t.Errorf("%s is in no index", column)
		}
	}
}

// Texts that others choose are bounded before they come to an index: a long URL of a page has no
// validator, the words of an outcome are cut, and a name that no repository can have is none.
func TestLongTextsOfOthers(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	random := strings.Repeat(NewEpoch(), 400) // it cannot be compressed to less than the limit
	var long strings.Builder
	for long.Len() < 8000 {
		long.WriteString(NewEpoch())
	}
	update(t, d, func(tx *Tx) error {
		if err := tx.PutValidator(t.Context(), work.Validator{RepoID: r.ID, URL: "u?" + long.String(), ETag: "e"}); err != nil {
			return err
		}
		if err := tx.PutValidator(t.Context(), work.Validator{RepoID: r.ID, URL: "short", ETag: "e", Next: random}); err != nil {
			return err
		}
		_, err := tx.AddEvents(t.Context(), []work.Event{{RepoID: r.ID, Number: 1, Kind: work.EventReview, Source: "1", Hash: "h", Key: work.EventKey(1, work.EventReview, "1", "h")}})
		if err != nil {
			return err
		}
		pending, err := listRows(t.Context(), tx, "events", scanID, `SELECT id FROM events`)
		if err != nil {
			return err
		}
		return tx.FinishEvents(t.Context(), pending, work.OutcomeVoid+long.String(), t0)
	})
	known := inTx(t, d, func(tx *Tx) ([]work.Validator, error) { return tx.ListValidators(t.Context(), r.ID) })
	if len(known) != 1 || known[0].URL != "short" {
		t.Errorf("%d validators", len(known))
	}
	outcome := inTx(t, d, func(tx *Tx) (string, error) {
		return getRow(t.Context(), tx, "outcome", scanString, `SELECT outcome FROM events`)
	})
	if len(outcome) > longestOutcome || !strings.HasPrefix(outcome, work.OutcomeVoid) {
		t.Errorf("%d bytes: %.40s", len(outcome), outcome)
	}
	for _, name := range []string{strings.Repeat("o", 254) + "/n", "o/" + strings.Repeat("n", 254)} {
		if _, err := work.ParseRepoName(name, "github.com"); err == nil {
			t.Errorf("%.20s… is a name", name)
		}
	}
}
