//go:build unix

package agent_test

import (
	"errors"
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
func (r *rig) boxed() *sandbox.Box {
	r.t.Helper()
	tool, err := sandbox.Find(r.t.Context(), os.Getenv("PATH"))
	if err != nil {
		r.t.Skipf("no sandbox here: %v", err)
	}
	own, home := agent.Lookup(r.spec.Environ, "HOME"), testhome.New(r.t)
	r.setEnv("HOME", home)
	box := &sandbox.Box{
		Agent: r.spec.Name, Home: home, Path: agent.Lookup(r.spec.Environ, "PATH"), Homes: []string{own}, Ours: []string{r.spec.Home},
		Items: filepath.Join(testhome.New(r.t), "homes"), Own: filepath.Join(testhome.New(r.t), "box"),
	}
	r.spec.Wrap = func(argv []string, j work.Job) ([]string, []string, error) { return tool.Wrap(*box, argv, j) }
	return box
}

// A turn that writes works with every folder that a home may have: what a program's own sandbox may write is what can be
// written in the final layout. Every folder that the sandbox treats apart is there, some only behind a
// link, one is missing and on PATH, and the config names some again with the other way.
func TestARealTurnWritesWithEveryKnownFolderInTheHome(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		box := r.boxed()
		other := testhome.New(t)
		for _, dir := range sandbox.Known(box.Home) {
			var err error
			if name := filepath.Base(dir); name == ".m2" || name == ".pyenv" {
				err = errors.Join(os.MkdirAll(filepath.Join(other, name), 0o700), os.Symlink(filepath.Join(other, name), dir))
			} else {
				err = os.MkdirAll(dir, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in := func(name string) string { return filepath.Join(box.Home, filepath.FromSlash(name)) }
		missing := in(".cpan")
		if err := errors.Join(os.Remove(missing), os.WriteFile(in("file"), nil, 0o600), os.Mkdir(in("out"), 0o700)); err != nil {
			t.Fatal(err)
		}
		box.Path += string(filepath.ListSeparator) + missing + string(filepath.ListSeparator) + in(".local/share/pnpm")
		box.Readable = []string{in(".gradle"), filepath.Join(other, ".m2")}
		box.Writable = []string{in("out"), in("file"), in(".nuget")}
		written := []string{".local/share/pnpm/store", ".rustup/tmp", ".local/share/virtualenv", ".gem", ".cache", "go/pkg", ".cargo/registry", "out", ".nuget"}
		kept := []string{".local/share/pnpm", ".rustup", ".gradle", ".gem/ruby", "go/bin"}
		if r.spec.Adapter.Name == codexName { // the rest of the home holds what programs read as settings
			kept = append(kept, ".config")
		}
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if len(q.Results) == 0 {
				return modelsim.Reply{Run: "echo more >> edited.txt; cd " + box.Home + "; for d in " + strings.Join(append(written, kept...), " ") + "; do echo x 2>&1 > $d/made && echo wrote $d.; done; true"}
			}
			return modelsim.Reply{Answer: answer("Done")}
		})
		q := r.request("Begin.")
		q.Item = 1
		a, err := agent.New(r.spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Check(t.Context(), q); err != nil {
			t.Error(err)
		}
		r.must(q)
		if b, err := os.ReadFile(filepath.Join(r.dir, "edited.txt")); string(b) != "more\n" {
			t.Fatalf("edited.txt: %q, %v", b, err)
		}
		all := r.model.Queries()
		said := all[len(all)-1].Results[0]
		for i, name := range append(written, kept...) {
			if got, want := strings.Contains(said, "wrote "+name+"."), i < len(written); got != want {
				t.Errorf("wrote %s = %v: %s", name, got, said)
			}
		}
		for _, name := range append(kept, ".local/share/pnpm/store", ".rustup/tmp", ".cache") {
			if _, err := os.Stat(filepath.Join(in(name), "made")); err == nil {
				t.Errorf("%s of the machine was written", name)
			}
		}
	})
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
