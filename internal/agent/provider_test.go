package agent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

func TestARateLimitInTheStreamIsWaitedForAsItSays(t *testing.T) {
	r := newRig(t, codexName)
	r.model.Script(func(modelsim.Query) modelsim.Reply {
		return modelsim.Reply{Failed: "rate_limit_exceeded", Text: "Rate limit reached on tokens per min. Please try again in 1m30.5s. Visit https://x.invalid"}
	})
	before := time.Now()
	_, err := r.run(r.request("Begin."))
	var wait *work.WaitError
	if !errors.As(err, &wait) || wait.Until.Before(before.Add(90*time.Second)) || wait.Until.After(time.Now().Add(91*time.Second)) {
		t.Errorf("got %v", err)
	}
}

func TestClaudesLastPauseIsHowLongItsLimitLasts(t *testing.T) {
	before := time.Now()
	_, err := saying(t, claudeName, "", "1", claudeInit,
		`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":600.5,"error_status":429,"error":"rate_limit"}`,
		`{"type":"system","subtype":"api_retry","attempt":2,"max_retries":2,"retry_delay_ms":120000,"error_status":429,"error":"rate_limit"}`,
		`{"type":"assistant","error":"rate_limit"}`, strings.Replace(claudeResult(`,"api_error_status":429`), `"is_error":false`, `"is_error":true`, 1))
	var wait *work.WaitError
	if !errors.As(err, &wait) || wait.Until.Before(before.Add(2*time.Minute)) || wait.Until.After(time.Now().Add(2*time.Minute)) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatIsCutIsWaitedFor(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Cut: true} })
		_, err := r.run(r.request("Begin."))
		if _, ok := errors.AsType[*work.WaitError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

// claude asks its provider again and again. Ended at a limit while it does, it
// waits for the provider; a model that hangs is another matter.
func TestAProviderThatIsAskedUntilTheLimitIsWaitedFor(t *testing.T) {
	r := newRig(t, claudeName)
	r.setEnv("CLAUDE_CODE_MAX_RETRIES", "10")
	r.model.Script(func(modelsim.Query) modelsim.Reply {
		return modelsim.Reply{Error: &modelsim.Error{Status: 503, Type: "api_error", Text: "away"}}
	})
	// Asked a second time, it has told that the first answer was an error.
	_, _, err := r.limited(r.request("Begin."), 2)
	if _, ok := errors.AsType[*work.WaitError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// limited runs an agent that does not end by itself up to a limit of a few
// seconds, and of more where the machine is so slow that the agent asked its
// model fewer times. It returns which of the model's queries is the run's first.
func (r *rig) limited(q agent.Request, asked int) (agent.Result, int, error) {
	for wall := 6 * time.Second; ; wall *= 3 {
		since := len(r.model.Queries())
		q.Wall = wall
		res, err := r.run(q)
		if len(r.model.Queries())-since >= asked || wall > time.Minute {
			return res, since, err
		}
	}
}

// stopped checks that a person is asked, with words that help.
func (r *rig) stopped(reply modelsim.Reply, reason, hint string) {
	r.t.Helper()
	r.model.Script(func(modelsim.Query) modelsim.Reply { return reply })
	_, err := r.run(r.request("Begin."))
	var blocked *work.BlockedError
	if !errors.As(err, &blocked) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), reason) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), hint) {
		r.t.Fatalf("%+v: got %v", reply, err)
	}
	// What the provider says may name its address: it is shown on the machine alone.
	said := reply.Text
	if reply.Error != nil {
		said = reply.Error.Text
	}
	if strings.Contains(explain.What(blocked.Reason, explain.Place{}), said) || strings.Contains(explain.What(blocked.Reason, explain.Place{}), "127.0.0.1") || blocked.Reason.Local == "" {
		r.t.Errorf("%+v: for GitHub %q, for the machine %q", reply, explain.What(blocked.Reason, explain.Place{}), blocked.Reason.Local)
	}
}

func TestAnAccountWithoutCreditIsForAPerson(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		const reason, hint = "has no credit left", "[agents.real]"
		if r.spec.Adapter.Name == claudeName {
			r.stopped(modelsim.Reply{Error: &modelsim.Error{Status: 400, Type: "invalid_request_error", Text: "Your credit balance is too low to access the Anthropic API."}}, reason, hint)
			r.stopped(modelsim.Reply{Error: &modelsim.Error{Status: 402, Type: "billing_error", Text: "payment required"}}, reason, hint)
			return
		}
		r.stopped(modelsim.Reply{Failed: "insufficient_quota", Text: "You exceeded your current quota."}, reason, hint)
		r.stopped(modelsim.Reply{Error: &modelsim.Error{
			Status: 429, Type: "insufficient_quota", Text: "You exceeded your current quota, please check your plan and billing details.", More: map[string]any{"code": "insufficient_quota"},
		}}, reason, hint)
	})
}

// What the provider refuses is refused again: it costs one run, and people read its words.
func TestARequestThatIsRefusedIsForAPersonAtOnce(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		const said = "this is not for me"
		replies := []modelsim.Reply{
			{Error: &modelsim.Error{Status: 400, Type: "invalid_request_error", Text: said}},
			{Error: &modelsim.Error{Status: 422, Type: "invalid_request_error", Text: said}},
		}
		if r.spec.Adapter.Name == codexName {
			replies = append(replies, modelsim.Reply{Failed: "invalid_prompt", Text: said}, modelsim.Reply{Failed: "a_code_of_tomorrow", Text: said}, modelsim.Reply{Failed: "context_length_exceeded", Text: said})
		}
		for _, reply := range replies {
			r.model.Script(func(modelsim.Query) modelsim.Reply { return reply })
			_, err := r.run(r.request("Begin."))
			var blocked *work.BlockedError
			if !errors.As(err, &blocked) || blocked.Reason.Kind != work.WhyAgentRejected {
				t.Errorf("%+v: got %v", reply, err)
				continue
			}
			what := explain.What(blocked.Reason, explain.Place{})
			if told := strings.Contains(what, said) || strings.Contains(what, "context window"); !told || strings.Contains(what, "127.0.0.1") {
				t.Errorf("%+v: people read %q", reply, what)
			}
		}
	})
}

// A limit of a key lasts as long as the provider says: in its message (claude), in a header (codex).
func TestALimitOfAKeyLastsAsItSays(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(modelsim.Query) modelsim.Reply {
			return modelsim.Reply{Error: &modelsim.Error{Status: 429, Type: "rate_limit_error", Text: "Please try again in 20m34s.", Header: map[string]string{"retry-after": "1234"}}}
		})
		before := time.Now()
		_, err := r.run(r.request("Begin."))
		var wait *work.WaitError
		if !errors.As(err, &wait) || wait.Until.Before(before.Add(1234*time.Second)) || wait.Until.After(time.Now().Add(1235*time.Second)) {
			t.Errorf("got %v", err)
		}
	})
}

// Without a network codex gives up by itself, and nothing was used.
func TestCodexWithoutANetworkGivesUp(t *testing.T) {
	r := newRig(t, codexName)
	mustDo(t, r.model.Close())
	q := r.request("Begin.")
	began := time.Now()
	res, err := r.run(q)
	if _, ok := errors.AsType[*work.WaitError](err); !ok || res.Usage != (work.Usage{}) || time.Since(began) > q.Wall/2 {
		t.Errorf("after %s: %+v, %v", time.Since(began), res.Usage, err)
	}
}

func TestAModelThatIsNotThereIsForAPerson(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		const reason, hint = "does not offer the model", "model of [agents.real]"
		if r.spec.Adapter.Name == claudeName {
			r.stopped(modelsim.Reply{Error: &modelsim.Error{Status: 404, Type: "not_found_error", Text: "model: claude-sonnet-4-5"}}, reason, hint)
			return
		}
		for _, status := range []int{400, 404} {
			r.stopped(modelsim.Reply{Error: &modelsim.Error{
				Status: status, Type: "invalid_request_error", Text: "The model `gpt-5.5` does not exist or you do not have access to it.", More: map[string]any{"code": "model_not_found"},
			}}, reason, hint)
		}
		r.stopped(modelsim.Reply{Failed: "model_not_found", Text: "no such model"}, reason, hint)
	})
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
