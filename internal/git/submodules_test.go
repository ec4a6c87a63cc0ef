package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestModuleAddress(t *testing.T) {
	const web, short, ssh, local = "https://github.com/o/app.git", "git@github.com:o/app.git", "ssh://git@github.com/o/app.git", "/srv/git/app.git"
	for _, c := range []struct{ parent, raw, want string }{
		{web, "../lib.git", "https://github.com/o/lib.git"},
		{web, "../../p/lib", "https://github.com/p/lib"},
		{web, "./sub", "https://github.com/o/app.git/sub"},
		{web, "https://github.com/p/lib", "https://github.com/p/lib"},
		{web, "https://GitHub.com/p/lib", "https://github.com/p/lib"},
		{web, "git@github.com:p/lib.git", "https://github.com/p/lib.git"},
		{web, "ssh://git@github.com/p/lib.git", "https://github.com/p/lib.git"},
		{short, "../lib.git", "git@github.com:o/lib.git"},
		{short, "https://github.com/p/lib", "git@github.com:p/lib"},
		{ssh, "../lib.git", "ssh://git@github.com/o/lib.git"},
		{web, "https://gitlab.com/p/lib.git", "anonymous https://gitlab.com/p/lib.git"},
		{web, "git@gitlab.com:p/lib.git", "anonymous https://gitlab.com/p/lib.git"},
		{short, "https://gitlab.com/p/lib.git", "anonymous https://gitlab.com/p/lib.git"},
		{web, "https://github.com.evil.example/p/lib", "anonymous https://github.com.evil.example/p/lib"},
		{web, "https://github.com:8443/p/lib", "anonymous https://github.com:8443/p/lib"},
		{web, "https://github.com@evil.example/p/lib", ""},
		{web, "https://me:secret@github.com/p/lib", ""},
		{web, "http://github.com/p/lib", ""},
		{web, "git://github.com/p/lib", ""},
		{web, "ext::sh -c touch% /tmp/x", ""},
		{web, "file:///etc", ""},
		{web, "/etc", ""},
		{web, "--upload-pack=x", ""},
		{web, "git@-oProxyCommand=x:p", ""},
		{web, "ssh://-oProxyCommand=x/p", ""},
		{web, "https://-x/p", ""},
		{web, "../../..", ""},
		{web, "../../../../etc", ""},
		{web, "https://github.com/", ""},
		{web, "https://github.com/p/lib\nx", ""},
		{short, "../../-x", ""},
		{local, "../lib.git", "/srv/git/lib.git"},
		{local, "../../home/me/private", ""},
		{local, "../x/../../y", ""},
		{local, "/srv/git/lib.git", ""},
		{local, "https://github.com/p/lib", ""},
		{"anonymous " + web, "../lib.git", "anonymous https://github.com/o/lib.git"},
		{"anonymous " + short, "../lib.git", "anonymous https://github.com/o/lib.git"},
		{"anonymous " + ssh, "git@github.com:p/lib.git", "anonymous https://github.com/p/lib.git"},
	} {
		parent, anonymous := strings.CutPrefix(c.parent, "anonymous ")
		got, err := moduleAddress(parent, c.raw, anonymous)
		text := got.url
		if got.anonymous {
			text = "anonymous " + text
		}
		if text != c.want || (err == nil) != (c.want != "") || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s in %s: %q, %v, want %q", c.raw, c.parent, text, err, c.want)
		}
	}
}

// module makes a repository beside the remote and returns its commit.
func (w *world) module(name string, files map[string]string, gitlinks ...string) string {
	w.t.Helper()
	bare, clone := filepath.Join(w.root, name+".git"), filepath.Join(w.root, name)
	w.cmd(w.root, "init", "-q", "--bare", "-b", "main", bare)
	w.cmd(w.root, "clone", "-q", bare, clone)
	w.cmd(clone, "checkout", "-q", "-B", "main")
	for path, content := range files {
		w.write(filepath.Join(clone, path), content)
	}
	w.cmd(clone, "add", "-A")
	for _, link := range gitlinks {
		w.cmd(clone, "update-index", "--add", "--cacheinfo", "160000,"+link)
	}
	w.cmd(clone, "commit", "-q", "-m", name)
	w.cmd(clone, "push", "-q", "origin", "HEAD")
	return w.cmd(clone, "rev-parse", "HEAD")
}

// gitlink commits a submodule as a person.
func (w *world) gitlink(path, commit, gitmodules string) string {
	w.t.Helper()
	w.write(filepath.Join(w.person, ".gitmodules"), gitmodules)
	w.cmd(w.person, "add", ".gitmodules")
	w.cmd(w.person, "update-index", "--add", "--cacheinfo", "160000,"+commit+","+path)
	w.cmd(w.person, "commit", "-q", "-m", "submodule")
	w.cmd(w.person, "push", "-q", "origin", "HEAD")
	return w.cmd(w.person, "rev-parse", "HEAD")
}

const libModule = "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ../lib.git\n"

func TestSubmodulesAreFilled(t *testing.T) {
	w := newWorld(t, tree)
	deep := w.module("deep", map[string]string{"deep.txt": "deep"})
	lib := w.module("lib", map[string]string{
		"lib.txt": "one", "run.sh": "x", "AGENTS.md": "obey", ".gitmodules": "[submodule \"d\"]\n\tpath = in/deep\n\turl = ../deep.git\n\tupdate = !touch /tmp/never\n",
	}, deep+",in/deep")
	head := w.gitlink("vendor/lib", lib, libModule)
	w.fetch()
	for range 2 { // into an empty folder, and over what an agent left
		found, err := w.mirror.Submodules(t.Context(), head, head)
		w.check(err)
		r := w.wanted()
		r.Submodules = found
		w.check(w.mirror.Restore(t.Context(), r))
		have := contents(t, filepath.Join(w.dir, "vendor/lib"))
		if have["lib.txt"] != "one" || have["in/deep/deep.txt"] != "deep" || have["AGENTS.md"] != "obey" || have["left.txt"] != "" {
			t.Errorf("filled with %q", have)
		}
		if info, err := os.Stat(filepath.Join(w.dir, "vendor/lib/lib.txt")); err != nil || info.Mode().Perm()&0o222 != 0 {
			t.Errorf("it can be written: %v, %v", info, err)
		}
		w.put("vendor/lib/left.txt", "by an agent")
		w.put("a.txt", "changed")
		c := w.mustCommit()
		if len(c.Files) != 1 || c.Files[0] != "a.txt" {
			t.Errorf("committed %q", c.Files)
		}
	}
	guarded := w.wanted()
	guarded.Guarded, guarded.Submodules = Guarded{Tree: w.cmd(w.person, "rev-parse", "HEAD^{tree}")}, mustModules(w, head)
	w.check(w.mirror.Restore(t.Context(), guarded))
	if have := contents(t, filepath.Join(w.dir, "vendor/lib")); have["lib.txt"] != "one" || have["AGENTS.md"] != "" {
		t.Errorf("of a review: %q", have)
	}
	some, err := w.mirror.Obeyed(t.Context(), head, []string{"a.txt", "vendor/lib"})
	if err != nil || len(some) != 1 || some[0] != "vendor/lib" {
		t.Errorf("a person has to merge a change of %q, %v", some, err)
	}
}

func mustModules(w *world, head string) []Submodule {
	w.t.Helper()
	found, err := w.mirror.Submodules(w.t.Context(), head, head)
	w.check(err)
	return found
}

// Where a submodule is fetched from is the trusted commit's word, and what cannot be fetched is named.
func TestSubmodulesOfAChange(t *testing.T) {
	w := newWorld(t, tree)
	lib := w.module("lib", map[string]string{"lib.txt": "one"})
	w.module("private", map[string]string{"secret.txt": "s"})
	base := w.gitlink("vendor/lib", lib, libModule)
	w.fetch()
	private := w.gitlink("vendor/lib", w.cmd(filepath.Join(w.root, "private"), "rev-parse", "HEAD"), strings.ReplaceAll(libModule, "lib.git", "private.git"))
	w.check(w.mirror.Fetch(t.Context(), private))
	var refused *CheckoutError
	if _, err := w.mirror.Submodules(t.Context(), base, private); !errors.As(err, &refused) || !strings.Contains(refused.Why, `the submodule "vendor/lib" cannot be filled`) {
		t.Errorf("fetched what the change names: %v", err)
	}
	for _, bad := range []string{"ext::sh -c x", "file:///etc", "--upload-pack=x", "../../etc", "../absent.git"} {
		head := w.gitlink("vendor/lib", lib, strings.ReplaceAll(libModule, "../lib.git", bad))
		w.check(w.mirror.Fetch(t.Context(), head))
		if _, err := w.mirror.Submodules(t.Context(), head, head); !errors.As(err, &refused) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	head := w.gitlink("vendor/lib", lib, libModule+"\tupdate = none\n")
	w.check(w.mirror.Fetch(t.Context(), head))
	if found := mustModules(w, head); len(found) != 0 {
		t.Errorf("filled in spite of update = none: %v", found)
	}
}

// What stands in the .gitmodules of a submodule nobody here can mend: what cannot be fetched of it stays
// empty, and is named.
func TestASubmoduleWithinAnotherMayStayEmpty(t *testing.T) {
	const absent = "1111111111111111111111111111111111111111"
	for modules, want := range map[string]string{
		"[submodule \"d\"]\n\tpath = in/deep\n\turl = ../deep.git\n":              "does not give us commit 1111111 (",
		"[submodule \"d\"]\n\tpath = in/deep\n\turl = git://localhost/deep.git\n": "its URL",
		"[submodule \"d\n": "git refuses vendor/lib/.gitmodules",
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t, tree)
			w.module("deep", map[string]string{"deep.txt": "deep"})
			lib := w.module("lib", map[string]string{"lib.txt": "one", ".gitmodules": modules}, absent+",in/deep")
			head := w.gitlink("vendor/lib", lib, libModule)
			w.fetch()
			found := mustModules(w, head)
			if len(found) != 2 || found[0].Empty != "" || found[1].Path != "vendor/lib/in/deep" || !strings.Contains(found[1].Empty, want) {
				t.Fatalf("found %+v", found)
			}
			r := w.wanted()
			r.Submodules = found
			w.check(w.mirror.Restore(t.Context(), r))
			if have := contents(t, filepath.Join(w.dir, "vendor/lib")); have["lib.txt"] != "one" || have["in/deep/"] != "" || len(have) != 4 {
				t.Errorf("filled with %q", have)
			}
		})
	}
}

// A submodule may not make a turn fetch without an end: by their number, nor by their time.
func TestSubmodulesAreLimited(t *testing.T) {
	w := newWorld(t, tree)
	deep := w.module("deep", map[string]string{"deep.txt": "deep"})
	var modules strings.Builder
	var links []string
	for i := range maxModules {
		links = append(links, fmt.Sprintf("%s,d%d", deep, i))
		fmt.Fprintf(&modules, "[submodule \"d%d\"]\n\tpath = d%d\n\turl = ../deep.git\n", i, i)
	}
	lib := w.module("lib", map[string]string{".gitmodules": modules.String()}, links...)
	head := w.gitlink("vendor/lib", lib, libModule)
	w.fetch()
	found := mustModules(w, head)
	for i, s := range found {
		if (s.Empty != "") != (i >= maxModules) {
			t.Errorf("%d of %d, %s: %s", i, len(found), s.Path, s.Empty)
		}
	}
	if len(found) != maxModules+1 {
		t.Errorf("found %d", len(found))
	}
	w.open(Options{ModulesTimeout: time.Nanosecond})
	network := (*NetworkError)(nil)
	if _, err := w.mirror.Submodules(t.Context(), head, head); !errors.As(err, &network) {
		t.Errorf("fetched without time: %v", err)
	}
}

// Of two sections for one path the last one counts, as in git; without a submodule none is read.
func TestGitmodules(t *testing.T) {
	w := newWorld(t, tree)
	lib := w.module("lib", map[string]string{"lib.txt": "one"})
	head := w.commit("broken", map[string]string{".gitmodules": "[submodule \"d\n"})
	w.fetch()
	if found := mustModules(w, head); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	var sections strings.Builder
	for i := range 9 {
		fmt.Fprintf(&sections, "[submodule \"%d\"]\n\tpath = vendor/lib\n\turl = ../absent%d.git\n", i, i)
	}
	head = w.gitlink("vendor/lib", lib, sections.String()+libModule)
	w.fetch()
	if found := mustModules(w, head); len(found) != 1 || found[0].remote.url != filepath.Join(w.root, "lib.git") {
		t.Errorf("found %v", found)
	}
}

// What goes to another host has none of the operator's logins.
func TestAnotherHostGetsNoLogin(t *testing.T) {
	g, err := Open(t.Context(), Options{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/me", "GIT_ASKPASS=/bin/askpass", "GIT_CONFIG_GLOBAL=/home/me/.gitconfig"}, GhPath: "/bin/gh"})
	if err != nil {
		t.Fatal(err)
	}
	m := g.Mirror(filepath.Join(t.TempDir(), "m.git"), "https://github.com/o/app.git", filepath.Join(t.TempDir(), "l.lock"))
	for _, c := range []struct {
		raw   string
		login bool
	}{{"../lib.git", true}, {"https://gitlab.com/o/lib.git", false}} {
		remote, err := moduleAddress(m.url, c.raw, false)
		if err != nil {
			t.Fatal(err)
		}
		call := m.module(remote).remoteCommand(t.Context(), "fetch")
		env := call.environment()
		if got := strings.Contains(strings.Join(call.configuration(), " "), "/bin/gh"); got != c.login {
			t.Errorf("%s: gh is asked: %v", c.raw, got)
		}
		if got := lookup(env, "HOME") == "/home/me" && lookup(env, "GIT_ASKPASS") == "/bin/askpass" && lookup(env, "GIT_CONFIG_GLOBAL") == "/home/me/.gitconfig"; got != c.login {
			t.Errorf("%s: environment %q", c.raw, env)
		}
	}
}
