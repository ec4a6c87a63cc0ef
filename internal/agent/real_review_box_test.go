//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// boxed puts the machine's sandbox around the program, as a pass does: the home is
// another one inside, and beside the checkout only the program's own home may be
// written to.
func (r *rig) boxed() {
	r.t.Helper()
	tool, err := sandbox.Find(r.t.Context(), os.Getenv("PATH"))
	if err != nil {
		r.t.Skipf("no sandbox here: %v", err)
	}
	own, home := agent.Lookup(r.spec.Environ, "HOME"), testhome.New(r.t)
	r.setEnv("HOME", home)
	r.spec.Writable = sandbox.Caches(home)
	box := sandbox.Box{
		Agent: r.spec.Name, Home: home, Path: agent.Lookup(r.spec.Environ, "PATH"), Homes: []string{own}, Ours: []string{r.spec.Home},
		Items: filepath.Join(testhome.New(r.t), "homes"), Own: filepath.Join(testhome.New(r.t), "box"),
	}
	r.spec.Wrap = func(argv []string, j work.Job) ([]string, error) { return tool.Wrap(box, argv, j) }
}

// One program may be author and reviewer. What the author leaves in the home that a
// sandbox gives an item is the author's alone: a reviewer who could find it there
// might run it.
func TestARealReviewerInTheSandboxFindsNothingThatTheAuthorLeft(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.boxed()
		r.put("app.txt", "one\ntwo\n")
		planted := filepath.Join(agent.Lookup(r.spec.Environ, "HOME"), ".cache", "planted")
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			reviews := strings.Contains(string(q.Schema), "escalate")
			switch len(q.Results) {
			case 0:
				if reviews {
					return modelsim.Reply{Run: "echo three > app.txt; echo three > four.txt"}
				}
				return modelsim.Reply{Run: "mkdir -p ~/.cache; echo seen-by-all > " + planted}
			case 1:
				if reviews && q.API == modelsim.Anthropic {
					return modelsim.Reply{Tool: &modelsim.Call{Name: "Read", Input: map[string]any{"file_path": planted}}}
				}
				return modelsim.Reply{Run: "cat " + planted}
			case 2:
				if reviews {
					return modelsim.Reply{Answer: verdict()}
				}
			}
			return modelsim.Reply{Answer: answer("Done")}
		})
		finds := func() string {
			all := r.model.Queries()
			return all[len(all)-1].Results[1]
		}
		before := tree(t, r.dir)
		q := r.request("Write.")
		q.Item = 1
		r.must(q)
		if got := finds(); !strings.Contains(got, "seen-by-all") {
			t.Fatalf("the author's own file: %s", got)
		}
		look := r.asReviewer("quinn")
		look.Item = 1
		got, runs := r.reviews(look)
		if !reflect.DeepEqual(got, read()) || len(runs) != 1 {
			t.Errorf("read %+v, after %d runs", got, len(runs))
		}
		if said := finds(); strings.Contains(said, "seen-by-all") {
			t.Errorf("the reviewer found what the author left: %s", said)
		}
		if now := tree(t, r.dir); !reflect.DeepEqual(now, before) {
			t.Errorf("the reviewer wrote: %v", now)
		}
		look.Role = "" // as it were if homes were shared: this test sees that
		if r.reviews(look); !strings.Contains(finds(), "seen-by-all") {
			t.Errorf("in the author's own home: %s", finds())
		}
	})
}
