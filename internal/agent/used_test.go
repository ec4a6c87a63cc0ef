package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

var errTooMuch = errors.New("that is too much")

// A run is told of while it lasts, and is ended when the one who is told says
// so; whoever finds its record alone reads what it used, in a new session and in
// one that is resumed.
func TestARunIsEndedWhenItHasUsedTooMuch(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(loops)
		session, counted := "", work.Usage{}
		for _, what := range []string{"Begin.", "Go on."} {
			since, began, told := len(r.model.Queries()), time.Now(), agent.Used{}
			q := r.request(what)
			q.Session, q.Counted = session, counted
			q.Used = func(u agent.Used) error {
				if told = u; u.Usage.InputTokens > 3*modelsim.InputTokens {
					return errTooMuch
				}
				return nil
			}
			res, err := r.run(q)
			if !errors.Is(err, errTooMuch) {
				t.Fatalf("%s got %v", what, err)
			}
			r.paid(res.Usage, res.Known, since)
			if told.Session == "" {
				t.Errorf("%s no session was told", what)
			}
			q.Session = told.Session
			recorded, ok := agent.Recorded(r.spec, q, began)
			if !ok || recorded.Usage.InputTokens < told.Usage.InputTokens {
				t.Errorf("%s told %+v, recorded %+v (%v)", what, told.Usage, recorded.Usage, ok)
			}
			r.paid(recorded.Usage, recorded.Known, since)
			session, counted = told.Session, recorded.Counted
		}
		if _, ok := agent.Recorded(r.spec, agent.Request{Session: "00000000-0000-0000-0000-000000000000"}, time.Now()); ok {
			t.Error("a session that never was has a record")
		}
	})
}

// A record is read to its end, however much stands before it, and not what it
// tells of earlier runs.
func TestALongRecordIsReadToItsEnd(t *testing.T) {
	const session = "11111111-2222-3333-4444-555555555555"
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	message := func(id string, at time.Time) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":%q,"model":"claude-opus-4-5","usage":{"input_tokens":100,"output_tokens":10}}}`+"\n", at.Format(time.RFC3339Nano), id)
	}
	var record strings.Builder
	record.WriteString(message("earlier", began.Add(-time.Hour)) + message("first", began.Add(time.Second)))
	for range 70 {
		record.WriteString(`{"type":"user","message":{"content":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n")
	}
	record.WriteString(message("last", began.Add(time.Minute)))
	if err := os.WriteFile(filepath.Join(dir, session+".jsonl"), []byte(record.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := agent.Spec{Name: "claude", Adapter: adapters[claudeName], Environ: []string{"CLAUDE_CONFIG_DIR=" + home}}
	used, ok := agent.Recorded(spec, agent.Request{Session: session}, began)
	if !ok || used.Usage.InputTokens != 200 || used.Usage.OutputTokens != 20 || used.Usage.CostUSD <= 0 {
		t.Errorf("%+v, %v", used, ok)
	}
}
