package store

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// Why a statement may order rows by their ids.
const (
	byPlanning = "the holder of the repository's planning adds all of them, in transactions that check the claim"
	byTurn     = "the holder of the turn adds all of them, in transactions that check the claim, and an item has one turn at a time"
	listed     = "all of them are read, and it does not matter which comes first"
	tieBreak   = "what counts is a time before the id"
	fair       = "it only decides who is served first"
)

// ordered are the functions whose statements order rows by their ids, or compare ids, and why they may.
var ordered = map[string]string{
	"constants of roadmaps.go": byPlanning, "ListIssuesBelow": byPlanning, "ListWorkOn": byPlanning,
	"FindItem": byPlanning, "GetNewest": byPlanning, "ListItems": byPlanning, "ListEndedItems": byPlanning, "GetItems": byPlanning, "ListTurns": byPlanning,
	"ReopenEvents": byPlanning, "SupersedeOlderVersions": byPlanning,
	"GetSessionUsage": byTurn, "PutSession": byTurn,
	"ListSpent": byPlanning + "; " + byTurn, "RenewAllowance": byPlanning + "; " + byTurn,
	"ListDueWaits": listed, "ListItemActions": listed, "ListUnreportedHalts": listed, "ListUnsettledMerges": listed,
	"LastTurn": fair, "ListUndelivered": tieBreak,
}

// byID matches SQL that orders rows by their ids, or compares ids by more and less.
var byID = regexp.MustCompile(`(?i)ORDER BY (\w+\.)?id\b|\b(max|min)\((\w+\.)?id\)|\b(\w+\.)?id [<>] `)

// An id is given out before its row is committed: where several passes add rows, a higher id may be there
// first, and a pass that continues after it skips the lower one.
func TestIDsAreNoClock(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			name := "constants of " + f.Name()
			if fn, ok := decl.(*ast.FuncDecl); ok {
				name = fn.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && byID.MatchString(text) {
						found[name] = true
					}
				}
				return true
			})
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(ordered)); !slices.Equal(got, want) {
		t.Errorf("these order by ids:\n%q\nthe table says why of\n%q", got, want)
	}
}

// A pass that lost a repository's planning and commits late does not add an old version of a comment as the
// newest one.
func TestALateVersionIsNoNewer(t *testing.T) {
	ctx := t.Context()
	at := newAt(t)
	early, late := openAt(t, at), openAt(t, at)
	r := addRepo(t, early)
	i := addItem(t, early, work.Item{RepoID: r.ID, Number: 1})
	add := func(ctx context.Context, tx *Tx, key string) error {
		added, err := tx.AddEvents(ctx, []work.Event{{RepoID: r.ID, ItemID: i.ID, Number: 1, Key: key, Kind: work.EventSource, Source: "7", Body: key}})
		if err == nil {
			_, err = tx.SupersedeOlderVersions(ctx, []Version{{Newest: added[0].ID, RepoID: r.ID, Number: 1, Kind: work.EventSource, Source: "7"}}, t0)
		}
		return err
	}
	taken := false
	takeOver := func() error {
		if taken {
			return nil
		}
		taken = true
		return early.Update(Under(ctx, PlanningClaim(r, "early")), func(tx *Tx) error { return add(ctx, tx, "new") })
	}
	if !testpg.Set() { // SQLite has one transaction that writes at a time
		if err := takeOver(); err != nil {
			t.Fatal(err)
		}
	}
	err := late.Update(Under(ctx, PlanningClaim(r, "late")), func(tx *Tx) error {
		_, err := tx.ListRepos(ctx)
		return errors.Join(err, takeOver(), add(ctx, tx, "old"))
	})
	if !errors.Is(err, ErrTaken) {
		t.Errorf("the late transaction: %v", err)
	}
	pending := inTx(t, early, func(tx *Tx) ([]work.Event, error) { return tx.ListPendingEvents(ctx, r.ID) })
	if len(pending) != 1 || pending[0].Key != "new" {
		t.Errorf("what waits is %+v", pending)
	}
}

// A message that was planned before the last one that arrived, and fails after it, did not arrive.
func TestUndeliveredIsByTheTimeOfSending(t *testing.T) {
	ctx := t.Context()
	d := newDB(t)
	update(t, d, func(tx *Tx) error {
		return errors.Join(
			tx.KnowTarget(ctx, news.Known{Target: "chat", What: news.Blocked, Since: t0}),
			tx.AddNews(ctx, news.Entry{Target: "chat", Key: "low", What: news.Blocked, State: news.Planned, At: t0.Add(time.Second)}),
			tx.AddNews(ctx, news.Entry{Target: "chat", Key: "high", What: news.Blocked, State: news.Planned, At: t0}),
		)
	})
	all := inTx(t, d, func(tx *Tx) ([]news.Entry, error) { return tx.ListNews(ctx, 10) })
	if len(all) != 2 || all[0].Key != "low" || all[1].Key != "high" {
		t.Fatalf("newest first: %+v", all)
	}
	low, high := all[0].ID, all[1].ID
	undelivered := func() []news.Undelivered {
		return inTx(t, d, func(tx *Tx) ([]news.Undelivered, error) { return tx.ListUndelivered(ctx, t0) })
	}
	send := func(id int64, after time.Duration, state news.State, why string) {
		update(t, d, func(tx *Tx) error {
			return errors.Join(tx.MarkNewsSent(ctx, id, t0.Add(after)), tx.SettleNews(ctx, id, state, why, t0.Add(after)))
		})
	}
	send(high, time.Minute, news.Done, "")
	if u := undelivered(); len(u) > 0 {
		t.Errorf("all that was sent arrived, and not %+v", u)
	}
	send(low, 2*time.Minute, news.Failed, "no answer")
	equal(t, undelivered(), []news.Undelivered{{Target: "chat", Count: 1, LastError: "no answer"}})
}
