package agent_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// claude reports an unreachable provider for minutes. That is no progress: the idle limit ends the
// run, and the turn waits. codex gives up by itself.
func TestAProviderOutOfReachEndsAtTheIdleLimit(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.setEnv("CLAUDE_CODE_MAX_RETRIES", "")
		if err := r.model.Close(); err != nil {
			t.Fatal(err)
		}
		q := r.request("Begin.")
		q.Turn, q.Idle = "turn-unreachable", 4*time.Second
		began := time.Now()
		_, err := r.run(q)
		var wait *work.WaitError
		if !errors.As(err, &wait) || !wait.Until.After(time.Now()) || !strings.Contains(explain.What(wait.Reason, explain.Place{}), "not reached") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("it held the turn for %s", took)
		}
	})
}

// A silent command that takes longer than the idle limit does not end its agent: agents limit their
// commands themselves.
func TestASilentCommandIsNoIdleAgent(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		for name, command := range map[string]string{
			"sleeps":   "sleep 9; echo more >> edited.txt",
			"computes": "timeout 9 sh -c 'while :; do :; done'; echo more >> edited.txt",
		} {
			r.model.Script(func(q modelsim.Query) modelsim.Reply {
				if len(q.Results) == 0 {
					return modelsim.Reply{Run: command}
				}
				return modelsim.Reply{Answer: answer("Waited")}
			})
			q := r.request("Begin.")
			q.Turn, q.Idle = "turn-silent", 4*time.Second
			res, err := r.run(q)
			if err != nil || title(t, res) != "Waited" {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A silent model is stopped at the idle limit, also after a command.
func TestAModelThatHangsAfterACommandIsEnded(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if len(q.Results) == 0 {
				return modelsim.Reply{Run: "timeout 2 sh -c 'while :; do :; done'; true"}
			}
			return modelsim.Reply{Hang: true}
		})
		q := r.request("Begin.")
		q.Turn, q.Idle, q.Wall = "turn-hangs", 5*time.Second, time.Minute
		began := time.Now()
		_, err := r.run(q)
		if _, ended := errors.AsType[*agent.TimeoutError](err); !ended || time.Since(began) > 45*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// slowly forwards connections to the model, and its answers in small pieces.
func (r *rig) slowly() {
	r.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	model, err := url.Parse(r.model.OpenAI())
	if err != nil {
		r.t.Fatal(err)
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", model.Host)
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
			go func() {
				defer client.Close()
				for drop := make([]byte, 300); ; time.Sleep(50 * time.Millisecond) {
					n, err := server.Read(drop)
					if _, broken := client.Write(drop[:n]); err != nil || broken != nil {
						return
					}
				}
			}()
		}
	}()
	through := func(s string) string { return strings.ReplaceAll(s, model.Host, l.Addr().String()) }
	for _, list := range [][]string{r.spec.Args, r.spec.Environ} {
		for i := range list {
			list[i] = through(list[i])
		}
	}
}

// One long answer takes longer than the idle limit, and the agent prints nothing before its end.
func TestALongAnswerIsNoIdleAgent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a program's connections get")
	}
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(modelsim.Query) modelsim.Reply {
			a := answer("Long")
			a["pr_summary"] = strings.Repeat("0123456789abcde\n", 2600)
			return modelsim.Reply{Answer: a}
		})
		r.slowly()
		q := r.request("Begin.")
		q.Turn, q.Idle = "turn-slow", 4*time.Second
		began := time.Now()
		res, err := r.run(q)
		if err != nil || title(t, res) != "Long" || time.Since(began) < q.Idle {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
