package snapshot

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// statements counts what is sent to a database.
type statements struct {
	of   driver.Driver
	path string
	mu   sync.Mutex
	sent map[string]int
}

func (s *statements) Driver() driver.Driver { return s.of }

func (s *statements) Connect(context.Context) (driver.Conn, error) {
	c, err := s.of.Open("file:" + s.path + "?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	return counting{c.(sqlConn), s}, nil
}

type sqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type counting struct {
	sqlConn
	to *statements
}

func (c counting) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.to.mu.Lock()
	c.to.sent[query]++
	c.to.mu.Unlock()
	return c.sqlConn.QueryContext(ctx, query, args)
}

// TestAFollowedRoadmapCostsNoStatementPerNode: planning for a followed roadmap sends as many statements
// with a hundred issues as with ten, whether they wait for one another or for the roadmap's limits.
func TestAFollowedRoadmapCostsNoStatementPerNode(t *testing.T) {
	if testpg.Set() {
		t.Skip("it counts the statements that SQLite's driver gets")
	}
	for _, blocked := range []bool{true, false} {
		count := func(nodes int) int {
			path := filepath.Join(t.TempDir(), "state.db")
			db, err := store.Open(t.Context(), path, store.Options{Now: func() time.Time { return noon }})
			if err != nil {
				t.Fatal(err)
			}
			s := sower{}
			if err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
				s = sower{ctx: t.Context(), tx: tx}
				if s.repo, err = testdb.Repo(s.ctx, tx, app); err != nil {
					return err
				}
				s.followed(nodes, blocked)
				return s.err
			}); err != nil {
				t.Fatal(err)
			}
			counted := &statements{of: db.SQL.Driver(), path: path, sent: map[string]int{}}
			before := db.SQL
			db.SQL = sql.OpenDB(counted)
			defer func() { _, _ = db.Close(), before.Close() }()
			c := *cfg
			c.Repos = []config.Repo{{Name: app, Labels: cfg.Repos[0].Labels, Roadmap: roadmap.Limits{Parallel: 1}}}
			c.Runtime.MaxEventsPerTurn = 50
			p := New(&env.Env{Config: &c, Store: db, Now: func() time.Time { return noon }, Day: spending.DayOf(nil, work.Budgets{}, noon)})
			v, err := p.View(t.Context(), &env.Repo{Remote: env.Remote{Name: app, Settings: c.Repos[0]}, Row: s.repo})
			if err != nil {
				t.Fatal(err)
			}
			began := 1
			if blocked {
				began = 0
			}
			if turns := plan.For(v).Turns(); len(turns) != began {
				t.Errorf("%d of %d issues begin", len(turns), nodes)
			}
			all := 0
			for query, n := range counted.sent {
				if n >= 50 {
					t.Errorf("%d times: %s", n, query)
				}
				all += n
			}
			return all
		}
		if few, many := count(10), count(100); few == 0 || many > few {
			t.Errorf("blocked %v: %d statements for 10 issues, %d for 100", blocked, few, many)
		}
	}
}

// followed adds the followed roadmap #1 with issues that are to begin, blocked by another one or not.
func (s *sower) followed(nodes int, blocked bool) {
	lead := s.item(1, work.FlowRoadmap, work.StateMerged)
	s.do(s.tx.AddRoadmap(s.ctx, roadmap.Record{ItemID: lead, RepoID: s.repo.ID, State: roadmap.Followed}, nil))
	var subs []roadmap.SubIssue
	for n := range nodes {
		number := 100 + n
		id, err := s.tx.AddItem(s.ctx, work.Item{
			RepoID: s.repo.ID, Number: number, Flow: work.FlowBugfix, State: work.StatePending, Since: noon, Label: "agent:bugfix", Priority: 3, SubIssueOf: "github.com/octo/app#1",
			Blocked: work.Blocked{Open: 1, LookAt: noon.Add(time.Hour)},
		})
		s.do(err)
		s.event(id, number, work.EventLabelled, "")
		state := work.DependencyClosed
		if blocked {
			state = work.DependencyOpen
		}
		s.do(s.tx.PutDependency(s.ctx, store.Dependency{ItemID: id, Ref: "github.com/octo/app#99", State: state, Listed: true}))
		subs = append(subs, roadmap.SubIssue{Ref: fmt.Sprint("github.com/octo/app#", number), Position: n, State: work.DependencyOpen})
	}
	s.do(s.tx.SetSubIssues(s.ctx, lead, subs, noon.Add(time.Hour)))
	s.do(s.tx.SetTableAt(s.ctx, lead, time.Time{}))
	s.do(s.tx.MarkRoadmapDecided(s.ctx, lead, 100))
}
