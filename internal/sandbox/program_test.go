//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// script writes a program into the world.
func (w *world) script(name, text string) string {
	w.t.Helper()
	w.put(name, text)
	path := filepath.Join(filepath.Dir(w.home), name)
	if err := os.Chmod(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) link(to, name string) string {
	w.t.Helper()
	path := filepath.Join(filepath.Dir(w.home), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// interpreted is a script run by its interpreter with the script's path, which reads a file of its
// package.
const interpreted = "#!/bin/sh\necho \"node runs\"; cat \"$(dirname \"$(readlink -f \"$1\")\")/../package.json\"\n"

// layouts are ways in which people install programs in their homes.
var layouts = map[string]func(w *world) (program, path string){
	"npm below home": func(w *world) (string, string) {
		w.script("home/bin/node", interpreted)
		w.put("home/node_modules/@openai/codex/package.json", "its package\n")
		w.script("home/node_modules/@openai/codex/bin/codex.js", "#!/usr/bin/env node\n")
		return w.link("../@openai/codex/bin/codex.js", "home/node_modules/.bin/codex"), w.home + "/bin"
	},
	"npm with a prefix": func(w *world) (string, string) {
		w.script("home/n/node", interpreted)
		w.put("home/.npm-prefix/lib/node_modules/codex/package.json", "its package\n")
		w.script("home/.npm-prefix/lib/node_modules/codex/bin/codex.js", "#!/usr/bin/env -S node\n")
		return w.link("../lib/node_modules/codex/bin/codex.js", "home/.npm-prefix/bin/codex"), w.home + "/n"
	},
	"nvm": func(w *world) (string, string) {
		w.script("home/.nvm/versions/node/v20/bin/node", interpreted)
		w.put("home/.nvm/versions/node/v20/lib/node_modules/codex/package.json", "its package\n")
		w.script("home/.nvm/versions/node/v20/lib/node_modules/codex/bin/codex.js", "#!/usr/bin/env node\n")
		w.link("../lib/node_modules/codex/bin/codex.js", "home/.nvm/versions/node/v20/bin/codex")
		return w.link("versions/node/v20", "home/.nvm/current") + "/bin/codex", w.home + "/.nvm/current/bin"
	},
	"fnm, by a link below run": func(w *world) (string, string) {
		w.script("home/.local/share/fnm/node-versions/v20/installation/bin/node", interpreted)
		w.put("home/.local/share/fnm/node-versions/v20/installation/lib/node_modules/codex/package.json", "its package\n")
		w.script("home/.local/share/fnm/node-versions/v20/installation/lib/node_modules/codex/bin/codex.js", "#!/usr/bin/env node\n")
		w.link("../lib/node_modules/codex/bin/codex.js", "home/.local/share/fnm/node-versions/v20/installation/bin/codex")
		shell := w.link(w.home+"/.local/share/fnm/node-versions/v20/installation", "run/fnm_multishells/1")
		return shell + "/bin/codex", shell + "/bin"
	},
	"pipx": func(w *world) (string, string) {
		python := w.script("home/pythons/3.12/bin/python3.12", strings.ReplaceAll(interpreted, "node", "python"))
		w.put("home/pythons/3.12/lib/os.py", "")
		w.put("home/.local/pipx/venvs/codex/package.json", "its package\n")
		link := w.link(python, "home/.local/pipx/venvs/codex/bin/python")
		w.put("home/.local/pipx/venvs/codex/lib/site.py", "")
		real := w.script("home/.local/pipx/venvs/codex/bin/codex", "#!"+link+"\n")
		return w.link(real, "home/.local/bin/codex"), w.home + "/.local/bin"
	},
	"Homebrew": func(w *world) (string, string) {
		w.script("home/brew/Cellar/node/20/bin/node", interpreted)
		w.link("../Cellar/node/20/bin/node", "home/brew/bin/node")
		w.put("home/brew/Cellar/codex/1/package.json", "its package\n")
		w.script("home/brew/Cellar/codex/1/bin/codex", "#!/usr/bin/env node\n")
		return w.link("../Cellar/codex/1/bin/codex", "home/brew/bin/codex"), w.home + "/brew/bin"
	},
	"a plain file": func(w *world) (string, string) {
		return w.script("home/tools/mine/agent", "#!/bin/sh\necho runs; echo its package\n"), ""
	},
	"a link to a link": func(w *world) (string, string) {
		w.script("home/.local/share/codex/versions/1.2", "#!/bin/sh\necho runs; echo its package\n")
		w.link("1.2", "home/.local/share/codex/versions/current")
		return w.link(w.home+"/.local/share/codex/versions/current", "home/tools/codex"), ""
	},
}

// The agent's own program is let in as its users install it, with what it needs and no files beside
// it.
func TestTheAgentsProgramIsLetIn(t *testing.T) {
	tool := tool(t)
	for name, layout := range layouts {
		t.Run(name, func(t *testing.T) {
			w := elsewhere(t)
			program, path := layout(w)
			for _, beside := range []string{"home/token", "home/tools/token", "home/tools/mine/token", "home/.local/share/token", "home/.local/share/codex/token", "home/.npm-prefix/etc/npmrc"} {
				w.put(beside, "canary")
			}
			w.box.Path = path + ":/usr/bin:/bin"
			if out := w.exec(tool, program); !strings.Contains(out, "runs\n") || !strings.HasSuffix(out, "its package\n") {
				t.Errorf("%s: %s", program, out)
			}
			w.box.Programs = []string{program} // as for a shell
			if out := w.run(tool, `grep -rs canary "$1"; echo looked`); out != "looked\n" {
				t.Errorf("read: %s", out)
			}
		})
	}
}

// Files that the agent's command names are let in: a script, its settings. Folders are not, because
// they may contain anything.
func TestFilesThatTheCommandNamesAreLetIn(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	w.put("home/agents/mine.py", "fine")
	w.put("home/agents/token", "canary")
	w.box.Programs = []string{filepath.Join(w.home, "agents/mine.py"), filepath.Join(w.home, "agents"), w.home, "/"}
	if out := w.run(tool, `cat "$1/home/agents/mine.py"; cat "$1"/home/agents/* "$1"/home/.ssh/*; `+readsWhat); !strings.HasPrefix(out, "finefine") || strings.Contains(out, "canary") {
		t.Errorf("got: %s", out)
	}
}

// A file needed for name resolution may be a link into a folder with sockets, as /etc/resolv.conf
// is: only the file is let in.
func TestALinkLetsInWhatItLeadsTo(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	w.put("run/resolve/stub.conf", "fine")
	w.put("run/resolve/socket", "canary")
	w.box.Trusted = []string{w.link("../run/resolve/stub.conf", "etc/certs.pem")}
	if out := w.run(tool, `cat "$1/etc/certs.pem" "$1/run/resolve/stub.conf"; ls "$1/run/resolve"`); out != "finefinestub.conf\n" {
		t.Errorf("got: %s", out)
	}
}

// A program or interpreter that is not visible stops the turn, with the line to add to the config.
func TestAProgramThatIsNotVisibleStopsTheTurn(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("macOS says so when it runs")
	}
	_, _, err := tool.Wrap(w.box, []string{w.script("home/agent", "#!/usr/bin/env no-such-thing\n")}, w.job)
	blocked, _ := errors.AsType[*work.BlockedError](err)
	if blocked == nil || blocked.Reason.Kind != work.WhyNotOnPath || blocked.Reason.Name != "no-such-thing" {
		t.Errorf("got %v", err)
	}
	for program, missing := range map[string]string{
		w.script("state/tools/agent", "#!/bin/sh\n"): "state/tools/agent",
	} {
		_, _, err := tool.Wrap(w.box, []string{program}, w.job)
		blocked, ok := errors.AsType[*work.BlockedError](err)
		if !ok || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), missing) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), `cannot be started in the sandbox of agent "mine": it is not visible there`) ||
			!strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "readable of [runtime]") || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "gh mergexo doctor --sandbox mine") {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// An interpreter that is not on PATH cannot be let in: PATH must change.
func TestAnInterpreterThatIsNotOnPathIsNamed(t *testing.T) {
	err := Box{Agent: "a"}.notVisible("/opt/bin/codex", "node")
	blocked, ok := errors.AsType[*work.BlockedError](err)
	if !ok || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), `"node", which`) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), "not on the PATH") || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "crontab") {
		t.Errorf("got %#v", err)
	}
}
