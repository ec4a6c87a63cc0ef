package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/claude"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// loops makes the model run commands forever.
func loops(modelsim.Query) modelsim.Reply { return modelsim.Reply{Run: "true"} }

// paid checks that a run's usage covers the queries since then. The last answers may be missing, or
// not yet written.
func (r *rig) paid(u work.Usage, known work.Known, since int) {
	r.t.Helper()
	n := int64(len(r.model.Queries()) - since)
	least := n - 2
	if least < 1 || u.InputTokens < least*modelsim.InputTokens || u.InputTokens > n*modelsim.InputTokens || u.OutputTokens < least*modelsim.OutputTokens || u.OutputTokens > n*modelsim.OutputTokens {
		r.t.Errorf("after %d answers of the model: %+v", n, u)
	}
	if r.spec.Adapter.Name == claudeName && u.CostUSD <= 0 {
		r.t.Errorf("no cost: %+v", u)
	}
	if !known.Tokens || known.Cost != (r.spec.Adapter.Name == claudeName) {
		r.t.Errorf("known: %+v", known)
	}
}

func TestATurnThatIsEndedAtALimitIsPaid(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(loops)
		q := r.request("Begin.")
		res, first, err := r.limited(q, 4)
		var timeout *agent.TimeoutError
		if !errors.As(err, &timeout) || timeout.Limit != proc.WallLimit {
			t.Fatalf("got %v", err)
		}
		r.paid(res.Usage, res.Known, first)
		if r.spec.Adapter.Name == claudeName {
			return
		}
		// The next turn of the thread does not pay for it again.
		since := len(r.model.Queries())
		r.model.Script(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Answer: answer("Done")} })
		q.Session, q.Counted, q.Wall = res.Session, res.Counted, time.Minute
		if u := r.must(q).Usage; u.InputTokens != int64(len(r.model.Queries())-since)*modelsim.InputTokens {
			t.Errorf("the next turn: %+v", u)
		}
	})
}

func TestATurnThatIsInterruptedIsPaid(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if len(q.Results) == 5 {
				cancel()
			}
			return loops(q)
		})
		a, err := agent.New(r.spec)
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Run(ctx, r.request("Begin."))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		r.paid(res.Usage, res.Known, 0)
	})
}

func TestATurnThatFailsIsPaid(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if len(q.Results) < 3 {
				return loops(q)
			}
			return modelsim.Reply{Error: &modelsim.Error{Status: 500, Type: "api_error", Text: "oops"}}
		})
		res, err := r.run(r.request("Begin."))
		if err == nil {
			t.Fatal("it did not fail")
		}
		if u := res.Usage; u.InputTokens != 3*modelsim.InputTokens || u.OutputTokens != 3*modelsim.OutputTokens {
			t.Errorf("three answers of the model: %+v", u)
		}
	})
}

// ending runs an adapter on a program that prints lines, and then hangs silently.
func ending(t *testing.T, adapter string, prices *spending.Prices, lines ...string) (agent.Result, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	write(t, out, strings.Join(lines, "\n")+"\n")
	s := spec(t, program(t, "cat > /dev/null; cat '"+out+"'; exec sleep 60"))
	s.Adapter, s.Now, s.Prices = adapters[adapter], time.Now, prices
	r := request(t)
	r.Session, r.Wall = "", time.Second
	return run(t, s, r)
}

func claudeSays(id, model string, input, output int) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":%q,"usage":{"input_tokens":%d,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":%d}},"session_id":%q}`,
		id, model, input, output, thread)
}

func TestClaudesMessagesCountOnce(t *testing.T) {
	const model = "claude-sonnet-4-5-20250929"
	res, err := ending(t, claudeName, nil, claudeInit,
		claudeSays("msg_1", model, 10, 1), claudeSays("msg_1", model, 10, 7), claudeSays("msg_1", model, 10, 5), "not json", claudeSays("msg_2", model, 20, 3))
	if _, ok := errors.AsType[*agent.TimeoutError](err); !ok {
		t.Fatalf("got %v", err)
	}
	want := spending.Tokens{Input: 30, CacheWrite: 200, CacheRead: 2000, Output: 10}
	if cost := claude.PriceOf(model).Cost(want); res.Usage.InputTokens != 2230 || res.Usage.OutputTokens != 10 || math.Abs(res.Usage.CostUSD-cost) > 1e-9 || cost == 0 {
		t.Errorf("got %+v, want %+v for %g USD", res.Usage, want, cost)
	}
}

func TestAnAnswerThatCameBeforeTheLimitIsKept(t *testing.T) {
	testhome.OnlyLong(t)
	for adapter, lines := range map[string][]string{
		codexName:  {codexBegins, codexSays(`{"a":1}`), codexEnds},
		claudeName: {claudeInit, claudeResult(`,"structured_output":{"a":1}`)},
	} {
		res, err := ending(t, adapter, nil, lines...)
		if err != nil || string(res.Answer) != `{"a":1}` || res.Usage.InputTokens == 0 || res.Session != thread {
			t.Errorf("%s: %+v, %v", adapter, res, err)
		}
		// Without an answer the limit is the error.
		_, err = ending(t, adapter, nil, lines[:len(lines)-1]...)
		if _, ok := errors.AsType[*agent.TimeoutError](err); !ok {
			t.Errorf("%s without its last line: %v", adapter, err)
		}
	}
}

func TestStatedPricesCount(t *testing.T) {
	prices := &spending.Prices{Input: 1e6, CacheRead: 1e5, CacheWrite: 2e6, Output: 1e7}
	for adapter, tt := range map[string]struct {
		lines []string
		want  float64
	}{
		// Only the turn's end reports how much came from a cache, and for the whole thread.
		codexName:  {[]string{codexBegins, codexSays(`{"a":1}`), codexEnds}, 100 + 10*10},
		claudeName: {[]string{claudeInit, claudeResult(`,"structured_output":{"a":1}`)}, 5 + 20*0.1 + 3*2 + 7*10},
	} {
		res, err := ending(t, adapter, prices, tt.lines...)
		if err != nil || math.Abs(res.Usage.CostUSD-tt.want) > 1e-6 {
			t.Errorf("%s: %+v, want %g USD; %v", adapter, res.Usage, tt.want, err)
		}
	}
	s := spec(t, program(t, `cat > /dev/null; echo '{"answer":{},"usage":{"input_tokens":3,"output_tokens":2,"cost_usd":0.5}}'; exit 1`))
	for _, want := range []float64{0.5, 3 + 2*10} {
		res, err := run(t, s, request(t))
		if err == nil || res.Usage.CostUSD != want || res.Usage.InputTokens != 3 {
			t.Errorf("a program that fails: %+v, want %g USD; %v", res.Usage, want, err)
		}
		s.Prices = prices
	}
}

// Newer versions of claude say in total_cost_usd what all runs of the session cost.
func TestClaudesCostIsThatOfTheRun(t *testing.T) {
	for said, want := range map[string]float64{
		``: 0.25,
		`,"model_usage_since_last_result":{"a":{"costUSD":0.125},"b":{"costUSD":0.0625}}`: 0.1875,
		`,"model_usage_since_last_result":{}`:                                             0,
		`,"model_usage_since_last_result":"much"`:                                         0,
	} {
		res, err := ending(t, claudeName, nil, claudeInit, claudeResult(`,"structured_output":{"a":1}`+said))
		if err != nil || res.Usage.CostUSD != want || res.Known.Cost != !strings.Contains(said, "much") || res.Usage.InputTokens == 0 {
			t.Errorf("%s: %+v, %+v, want %g USD; %v", said, res.Usage, res.Known, want, err)
		}
	}
}

func TestCodexsCostIsStatedByTheConfig(t *testing.T) {
	r := newRig(t, codexName)
	r.spec.Prices = &spending.Prices{Input: 1, CacheRead: 0.1, CacheWrite: 1, Output: 10}
	u := r.must(r.request("Begin.")).Usage
	const want = ((modelsim.InputTokens-modelsim.CachedTokens)*1 + modelsim.CachedTokens*0.1 + modelsim.OutputTokens*10) / 1e6
	if math.Abs(u.CostUSD-want) > 1e-9 {
		t.Errorf("got %+v, want %g USD", u, want)
	}
}

// The prices are claude's own, for models whose price is fixed.
func TestTheListIsThatOfClaude(t *testing.T) {
	r := newRig(t, claudeName)
	for _, model := range []string{"claude-sonnet-4-5", "claude-opus-4-8", "claude-haiku-4-5"} {
		r.spec.Model = model
		u := r.must(r.request("Begin.")).Usage
		n := u.OutputTokens / modelsim.OutputTokens
		want := claude.PriceOf(model).Cost(spending.Tokens{
			Input: n * (modelsim.InputTokens - modelsim.CachedTokens), CacheRead: n * modelsim.CachedTokens, Output: n * modelsim.OutputTokens,
		})
		if n == 0 || math.Abs(u.CostUSD-want) > 1e-9 {
			t.Errorf("%s: claude says %g USD, the list %g", model, u.CostUSD, want)
		}
	}
}

func TestModelsOfNoListAreTheDearest(t *testing.T) {
	dearest := claude.PriceOf("nobody knows")
	for _, model := range []string{"", "claude-opus-4-9", "claude-opus-5-50", "claude-sonnet-45", "claude-opus-4-1", "gpt-5"} {
		if got := claude.PriceOf(model); got != dearest {
			t.Errorf("%s: %+v", model, got)
		}
	}
	for model, output := range map[string]float64{
		"claude-opus-4-8[1m]": 25, "claude-opus-5-5": 20, "claude-opus-5": 25, "claude-sonnet-4-20250514": 15, "us.anthropic.claude-haiku-4-5-20251001-v1:0": 5,
		"claude-3-5-haiku-latest": 4, "claude-sonnet-4@20250514": 15,
	} {
		if got := claude.PriceOf(model).Output; got != output {
			t.Errorf("%s: %g, want %g", model, got, output)
		}
	}
}

func TestARecordThatIsNoFileIsNotRead(t *testing.T) {
	r := newRig(t, claudeName)
	q := r.request("Begin.")
	q.Session = r.must(q).Session
	home := adapters[claudeName].Homes(r.spec.Environ)[0]
	found, err := filepath.Glob(filepath.Join(home, "projects", "*", q.Session+".jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.Rename(found[0], found[0]+".kept"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", found[0]); err != nil {
		t.Fatal(err)
	}
	q.Wall = 4 * time.Second
	_, _ = r.run(q) // it must not hang, whatever claude's result
}
