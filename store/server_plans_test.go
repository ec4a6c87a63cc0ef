package store

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// noting is PostgreSQL's engine, and remembers what it was asked.
type noting struct {
	*postgresEngine
	mu   sync.Mutex
	sent int
	said map[string][]any // statement to its last arguments
}

func (n *noting) statement(query string, args []any) (string, []any) {
	text, used := n.postgresEngine.statement(query, args)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent++
	n.said[text] = slices.DeleteFunc(slices.Clone(used), func(a any) bool { _, mode := a.(pgx.QueryExecMode); return mode })
	return text, used
}

// planNode is a node of EXPLAIN's JSON.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Removed  float64    `json:"Rows Removed by Filter"`
	Hit      int        `json:"Shared Hit Blocks"`
	Read     int        `json:"Shared Read Blocks"`
	Plans    []planNode `json:"Plans"`
}

// looked is how many rows of what is over a plan looked at, by what it looked.
func (p planNode) looked(by map[string]float64) {
	if table.MatchString(p.Relation) {
		by[p.Type+" "+p.Relation+" "+p.Index] += (p.Rows + p.Removed) * p.Loops
	}
	for _, sub := range p.Plans {
		sub.looked(by)
	}
}

// What an idle pass asks PostgreSQL takes no longer after years: each statement looks at few rows of what
// is over, and reads few blocks, by the plans that the server makes for a filled database.
func TestServerPlansAreFlat(t *testing.T) {
	at := emptyServer.Copy(t)
	d, err := Open(t.Context(), at, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e := &noting{postgresEngine: d.engine.(*postgresEngine), said: map[string][]any{}}
	r := lived(t, d, 20_000)
	run(t, d, `VACUUM ANALYZE`)
	d.engine = e
	if err := idlePass(t.Context(), d, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("an idle pass sends %d statements, and 2 to begin and end each transaction", e.sent)
	const most, blocks = 60, 150 // rows, blocks
	for _, query := range slices.Sorted(func(yield func(string) bool) {
		for query := range e.said {
			if !yield(query) {
				return
			}
		}
	}) {
		tx, err := d.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		args := append([]any{pgx.QueryExecModeExec}, e.said[query]...)
		if err := tx.QueryRowContext(t.Context(), `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) `+query, args...).Scan(&text); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(text), &plans); err != nil {
			t.Fatal(err)
		}
		by := map[string]float64{}
		plans[0].Plan.looked(by)
		for step, rows := range by {
			if rows > most {
				t.Errorf("%.0f rows are looked at by %s:\n%s", rows, step, squeeze(query))
			}
		}
		if n := plans[0].Plan.Hit + plans[0].Plan.Read; n > blocks {
			t.Errorf("%d blocks are read, by %v:\n%s", n, by, squeeze(query))
		}
	}
}

func squeeze(query string) string {
	return regexp.MustCompile(`\s+`).ReplaceAllString(query, " ")
}

// filling is the filling of lived as SQL of an engine.
func filling(d *DB, query string) string {
	if !d.Shared() {
		return query
	}
	return strings.NewReplacer("max(1,", "greatest(1,", "x'7b7d'", `'\x7b7d'`).Replace(query)
}
