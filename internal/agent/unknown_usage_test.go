package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// reported is a JSON value for a count, and what it means.
type reported struct {
	json  string // empty: absent
	count float64
	known bool
}

var (
	absent = reported{}
	three  = reported{"3", 3, true}
	null   = reported{json: "null"}
)

// reports are all forms of a count that a program may report.
func reports(most float64) []reported {
	return []reported{
		absent, null,
		{"0", 0, true},
		three,
		{"3.0", 3, true},
		{"3e0", 3, true},
		{json: "-3"},
		{json: `"3"`},
		{json: `"NaN"`},
		{json: `"much"`},
		{json: "true"},
		{json: "[3]"},
		{json: `{"n":3}`},
		{"1e300", most, true},
		{"1e999", most, true},
	}
}

func member(name string, r reported) string {
	if r.json == "" {
		return ""
	}
	return fmt.Sprintf(",%q:%s", name, r.json)
}

// prints are the output of each adapter's program whose usage is this JSON (empty: absent), with a cost
// in the place where the program reports it.
var prints = map[string]func(usage string, cost reported) string{
	"command": func(usage string, cost reported) string {
		if usage == "" {
			return `{"session":null,"answer":{"x":1}}`
		}
		return `{"session":null,"answer":{"x":1},"usage":` + usage + `}`
	},
	claudeName: func(usage string, cost reported) string {
		return claudeInit + "\n" + `{"type":"result","subtype":"success","is_error":false,"session_id":"` + thread + `","structured_output":{"x":1}` +
			member("usage", reported{json: usage}) + member("total_cost_usd", cost) + "}"
	},
	codexName: func(usage string, _ reported) string {
		return codexBegins + "\n" + codexSays(`{"x":1}`) + "\n" + `{"type":"turn.completed"` + member("usage", reported{json: usage}) + "}"
	},
}

// used runs an adapter on a program with this output. Every answer must survive.
func used(t *testing.T, adapter, output string, prices *spending.Prices) agent.Result {
	t.Helper()
	s := spec(t, program(t, "cat > /dev/null; cat <<'END'\n"+output+"\nEND\n"))
	s.Adapter, s.Now, s.Prices = adapters[adapter], time.Now, prices
	r := request(t)
	r.Session = ""
	res, err := run(t, s, r)
	if err != nil || string(res.Answer) != `{"x":1}` {
		t.Fatalf("%s printed %s: answer %q, %v", adapter, output, res.Answer, err)
	}
	return res
}

// TestAbsentIsNotZero: of the usage that a program reports, a number of at least zero is known and
// counted. Everything else is unknown and counted as nothing. The answer is kept in both cases. Tokens and
// cost are known apart; prices make the cost of known tokens known.
func TestAbsentIsNotZero(t *testing.T) {
	prices := &spending.Prices{Input: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Output: 1e6}
	for adapter := range prints {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			check := func(usage string, cost, input, output reported) {
				t.Helper()
				said := prints[adapter](usage, cost)
				if adapter == codexName {
					cost = absent // it reports none
				}
				want := work.Usage{InputTokens: int64(input.count), OutputTokens: int64(output.count), CostUSD: cost.count}
				known := work.Known{Tokens: input.known && output.known, Cost: cost.known}
				if res := used(t, adapter, said, nil); res.Usage != want || res.Known != known {
					t.Errorf("%s: %+v %+v, want %+v %+v", said, res.Usage, res.Known, want, known)
				}
				if known.Tokens {
					want.CostUSD, known.Cost = prices.Cost(spending.Tokens{Input: want.InputTokens, Output: want.OutputTokens}), true
				}
				if known.Cost != cost.known && (input == three || output == absent) {
					if res := used(t, adapter, said, prices); res.Usage != want || res.Known != known {
						t.Errorf("%s, with prices: %+v %+v, want %+v %+v", said, res.Usage, res.Known, want, known)
					}
				}
			}
			// The usage as a whole.
			for _, usage := range []string{"", "null", `{}`, `"much"`, "7", "[]"} {
				check(usage, absent, absent, absent)
			}
			all := func(input, output, cost reported) {
				t.Helper()
				usage := `{"x":0` + member("input_tokens", input) + member("output_tokens", output)
				if adapter == "command" {
					usage += member("cost_usd", cost)
				}
				check(usage+"}", cost, input, output)
			}
			for _, r := range reports(agent.MaxTokens) {
				all(r, three, three)
			}
			all(three, absent, absent)
			all(three, null, absent)
			all(three, three, absent)
			if adapter == codexName {
				return
			}
			for _, r := range reports(agent.MaxCost) {
				all(absent, null, r)
			}
			all(three, three, reported{json: "-3"})
		})
	}
}

// The model is the one that the program names, else the configured one.
func TestTheModelThatAnswered(t *testing.T) {
	named := strings.Replace(claudeInit, `"subtype":"init"`, `"subtype":"init","model":"claude-sonnet-4-5"`, 1)
	for _, c := range []struct{ adapter, output, configured, want string }{
		{claudeName, prints[claudeName]("", absent), "", ""},
		{claudeName, prints[claudeName]("", absent), "sonnet", "sonnet"},
		{claudeName, strings.Replace(prints[claudeName]("", absent), claudeInit, named, 1), "sonnet", "claude-sonnet-4-5"},
		{codexName, prints[codexName]("", absent), "gpt-5", "gpt-5"},
		{commandName, prints[commandName]("", absent), "", ""},
	} {
		s := spec(t, program(t, "cat > /dev/null; cat <<'END'\n"+c.output+"\nEND\n"))
		s.Adapter, s.Now, s.Model = adapters[c.adapter], time.Now, c.configured
		r := request(t)
		r.Session = ""
		if res, err := run(t, s, r); err != nil || res.Model != c.want {
			t.Errorf("%s, configured %q: %q, want %q, %v", c.adapter, c.configured, res.Model, c.want, err)
		}
	}
}
