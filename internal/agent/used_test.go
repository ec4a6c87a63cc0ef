package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

var errTooMuch = errors.New("that is too much")

// A run is told of while it goes on, and is ended when the one who is told says
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
			r.paid(res.Usage, since)
			if told.Session == "" {
				t.Errorf("%s no session was told", what)
			}
			q.Session = told.Session
			recorded, ok := agent.Recorded(r.spec, q, began)
			if !ok || recorded.Usage.InputTokens < told.Usage.InputTokens {
				t.Errorf("%s told %+v, recorded %+v (%v)", what, told.Usage, recorded.Usage, ok)
			}
			r.paid(recorded.Usage, since)
			session, counted = told.Session, recorded.Counted
		}
		if _, ok := agent.Recorded(r.spec, agent.Request{Session: "00000000-0000-0000-0000-000000000000"}, time.Now()); ok {
			t.Error("a session that never was has a record")
		}
	})
}
