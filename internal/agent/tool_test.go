package agent_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func violations(t *testing.T, err error) string {
	t.Helper()
	var bad *agent.AnswerError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	return strings.Join(bad.Violations, "\n")
}

// leaving runs codex's adapter on a program that leaves something in the folder for the answer, then
// prints lines.
func leaving(t *testing.T, r agent.Request, script string, lines ...string) (agent.Result, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(out, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec(t, program(t, "cat > /dev/null; cd '"+r.Dir+".answer' && "+script+"; cat '"+out+"'"))
	s.Adapter, s.Now, s.Tool = adapters[codexName], time.Now, []string{"/bin/false"}
	r.Session = ""
	return run(t, s, r)
}

// TestTheAnswerOfTheTool: what a program leaves in the folder is an answer or nothing, and only that
// of this run. The final message counts where there is none.
func TestTheAnswerOfTheTool(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(`{"secret":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const left = `{"by":"tool"}`
	ends := []string{codexBegins, codexSays(`{"answer":null}`), codexEnds}
	whole := []string{codexBegins, codexSays(`{"answer":{"by":"message"}}`), codexEnds}
	tests := []struct {
		name, script string
		lines        []string
		want         string // empty: no answer
	}{
		{"an answer", `echo '` + left + `' > answer.json`, ends, left},
		{"an answer, and another in the message", `echo '` + left + `' > answer.json`, whole, left},
		{"an answer, and a last message in words", `echo '` + left + `' > answer.json`, []string{codexBegins, codexSays("Done."), codexEnds}, left},
		{"an answer, then a failure", `echo '` + left + `' > answer.json`, []string{codexBegins}, left},
		{"none", "true", whole, `{"by":"message"}`},
		{"none, and an answer by the old schema", "true", []string{codexBegins, codexSays(`{"by":"message"}`), codexEnds}, `{"by":"message"}`},
		{"none at all", "true", ends, ""},
		{"half an answer", `printf '{"by":' > answer.json`, whole, `{"by":"message"}`},
		{"one that is not in place yet", `echo '` + left + `' > answer.json.new`, whole, `{"by":"message"}`},
		{"a link to a file", `ln -s '` + secret + `' answer.json`, whole, `{"by":"message"}`},
		{"a pipe", `mkfifo answer.json`, whole, `{"by":"message"}`},
		{"a folder", `mkdir answer.json`, whole, `{"by":"message"}`},
		{"too much", `{ printf '"'; head -c 3000000 /dev/zero | tr '\0' a; printf '"'; } > answer.json`, whole, `{"by":"message"}`},
		{"a folder without permissions", `mkdir -p a/b && chmod 0 a`, whole, `{"by":"message"}`},
	}
	r := request(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A pass died after its run had left an answer: the next run begins without it.
			if err := os.MkdirAll(r.Dir+".answer", 0o700); err != nil {
				t.Fatal(err)
			}
			if err := agent.LeaveAnswer(r.Dir+".answer", []byte(`{"by":"an earlier run"}`)); err != nil {
				t.Fatal(err)
			}
			res, err := leaving(t, r, tt.script, tt.lines...)
			switch {
			case tt.want == "":
				if bad := violations(t, err); !strings.Contains(bad, "accepted none") {
					t.Errorf("violations %s", bad)
				}
			case err != nil || strings.TrimSpace(string(res.Answer)) != tt.want || res.Session != thread:
				t.Errorf("%+v, %v", res, err)
			}
			if files.Exists(r.Dir + ".answer") {
				t.Error("the folder is left")
			}
		})
	}
}

// TestAStoppedRunHasNoAnswer: a run that a limit stopped may still have been at work after its call.
func TestAStoppedRunHasNoAnswer(t *testing.T) {
	r := request(t)
	r.Wall = time.Second
	_, err := leaving(t, r, `echo '{}' > answer.json; sleep 30`)
	if _, ok := errors.AsType[*agent.TimeoutError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// TestTheServerIsDescribedOnce: program, folder and marks, and a place in the sandbox that a run
// without the tool does not have.
func TestTheServerIsDescribedOnce(t *testing.T) {
	r := request(t)
	offered := map[string]bool{codexName: true, claudeName: true}
	for name, adapter := range adapters {
		s := spec(t, "/bin/true")
		s.Adapter, s.Tool = adapter, []string{"/bin/gh-mergexo", "answer-tool"}
		var got work.Job
		s.Wrap = func(argv []string, j work.Job) ([]string, []string, error) {
			got = j
			return argv, nil, nil
		}
		if _, _, err := s.Line(r, []string{"/bin/true"}); err != nil {
			t.Fatal(err)
		}
		server, ok := s.Server(r)
		if ok != offered[name] || ok != (got.Answer != "") {
			t.Errorf("%s: offered %t, job %+v", name, ok, got)
		}
		if !ok {
			continue
		}
		if b, _ := json.Marshal(server.Args); server.Command != "/bin/gh-mergexo" || string(b) != `["answer-tool","`+got.Answer+`"]` || !strings.Contains(strings.Join(server.Env, "\n"), r.Mark) {
			t.Errorf("%s: %+v", name, server)
		}
	}
	s := spec(t, "/bin/true")
	s.Adapter, s.Tool, r.Role = adapters[claudeName], []string{"/bin/gh-mergexo", "answer-tool"}, "quinn"
	if _, ok := s.Server(r); ok || string(s.FinalSchema(r)) != string(r.Schema) {
		t.Error("claude is offered a server in its safe mode, which takes none")
	}
}
