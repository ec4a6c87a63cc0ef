//go:build unix

package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// unnamed has places of secrets that are in none of our lists.
var unnamed = []string{
	"home/notes.txt", "home/.config/github-copilot/hosts.json", "home/.config/containers/auth.json", "home/.config/google-chrome/Default/Cookies",
	"home/.mozilla/firefox/a/logins.json", "home/.bitcoin/wallet.dat", "home/.zcash/wallet", "home/.cargo/credentials.toml", "home/.local/share/keyrings/login",
	"home/.local/share/other/token", "home/projects/other/.env", "xdg/gh/hosts.yml", "xdg/git/credentials", "gone/backup.tar", "srv/data",
}

// Files that nobody named are not visible, wherever home and configuration are. With
// XDG_CONFIG_HOME set, gh's token once was readable.
func TestWhatNobodyNamedIsNotThere(t *testing.T) {
	tried := 0
	for _, parent := range []string{"/var/lib", "/srv", "/opt", "/mnt", os.Getenv("HOME")} {
		dir, ok := folderIn(t, parent)
		if !ok {
			continue
		}
		tried++
		w := worldIn(t, dir)
		for _, name := range unnamed {
			w.put(name, "canary")
		}
		out := w.run(tool(t), readsWhat+`; grep -rs canary /root /home /srv /var /run /mnt /media /opt; ls -A "$1/home"`)
		if strings.Contains(strings.ReplaceAll(out, "No such file", ""), "canary") || !strings.Contains(out, "done") {
			t.Errorf("in %s: %s", parent, out)
		}
	}
	if tried == 0 {
		t.Skip("no folder outside the temporary ones may be written")
	}
}

// TestDialPart runs inside and dials sockets.
func TestDialPart(t *testing.T) {
	for path := range strings.SplitSeq(os.Getenv("SANDBOX_TEST_DIAL"), ":") {
		if path == "" {
			t.Skip("a part of other tests")
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			_ = c.Close()
			t.Logf("connected %s", path)
		}
	}
}

// Sockets of services cannot be reached, wherever they are, until the config names one.
func TestSocketsDoNotConnect(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	var all []string
	for _, name := range []string{"home/.agent.sock", "lxd.socket", "state/s"} {
		path := filepath.Join(root, name)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		all = append(all, path)
	}
	w.env = []string{"SANDBOX_TEST_DIAL=" + strings.Join(all, ":")}
	dial := func() string { return w.exec(tool, os.Args[0], "-test.run=^TestDialPart$", "-test.v") }
	if out := dial(); strings.Contains(out, "connected") || !strings.Contains(out, "PASS: TestDialPart") {
		t.Errorf("got: %s", out)
	}
	w.box.Readable = all[1:2]
	if out := dial(); strings.Count(out, "connected") != 1 || !strings.Contains(out, "connected "+all[1]) {
		t.Errorf("the named one: %s", out)
	}
}

// Paths of the config are visible, read-only or writable for the agent. The repository's tests,
// code that the agent wrote, can write to none and do not see the agent's login.
func TestReadableAndWritable(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	for _, name := range []string{"home/docs/a", "home/out/a", "home/single", "data/a"} {
		w.put(name, "fine ")
	}
	w.box.Readable = []string{filepath.Join(w.home, "docs"), filepath.Join(w.home, "single"), filepath.Join(root, "data")}
	w.box.Writable = []string{filepath.Join(w.home, "out")}
	script := `cat "$1"/home/docs/a "$1"/home/out/a "$1"/home/single "$1"/data/a; for d in home/docs home/out data home/.codex; do echo x >"$1/$d/new" && echo "wrote $d"; done; ls "$1/home/.codex"`
	out := w.run(tool, script)
	if !strings.HasPrefix(out, "fine fine fine fine wrote home/out\nwrote home/.codex\nauth.json\n") {
		t.Errorf("the agent: %s", out)
	}
	w.job.For = work.RunsTests
	out = w.run(tool, script)
	if !strings.HasPrefix(out, "fine fine fine fine ") || strings.Contains(out, "wrote") || strings.Contains(out, "auth.json\n") {
		t.Errorf("the tests: %s", out)
	}
	if b, err := os.ReadFile(filepath.Join(w.home, "out/new")); err != nil || string(b) != "x\n" {
		t.Errorf("out/new: %q, %v", b, err)
	}
}

// Paths of the config inside Kept are not let in, and kept paths inside those of the config are
// empty, also through links.
func TestWhatIsKeptStaysOut(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	w.put("gh/hosts.yml", "canary")
	w.put("data/gh/hosts.yml", "canary")
	w.put("data/a", "fine")
	if err := os.Symlink(filepath.Join(root, "gh"), filepath.Join(root, "innocent")); err != nil {
		t.Fatal(err)
	}
	w.box.Kept = append(w.box.Kept, filepath.Join(root, "gh"), filepath.Join(root, "data/gh"))
	w.box.Readable = []string{filepath.Join(root, "innocent"), filepath.Join(w.state, "logs"), filepath.Join(root, "data"), filepath.Join(root, "data/gh")}
	if out := w.run(tool, `cd "$1"; cat data/a; cat innocent/hosts.yml gh/hosts.yml data/gh/hosts.yml state/logs/*; echo x >data/gh/x && echo wrote`); !strings.HasPrefix(out, "fine") || strings.Contains(out, "canary") || strings.Contains(out, "wrote") {
		t.Errorf("got: %s", out)
	}
}

// A folder on PATH is let in with the libraries beside it. One that contains the home or our state,
// or is relative, is not.
func TestPathLetsNoHomeIn(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	w.put("home/.tools/bin/tool", "fine")
	w.put("home/.tools/lib/data", "fine")
	w.put("home/.tools/token", "canary")
	w.put("home/secret", "canary")
	if err := os.Symlink(w.home, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	w.box.Path = strings.Join([]string{w.home, root, "/", ".", "", "bin", filepath.Join(root, "link"), w.state, filepath.Join(w.home, ".tools/bin"), os.Getenv("PATH")}, ":")
	if out := w.run(tool, readsWhat+`; cat "$1"/home/secret "$1"/home/.tools/token "$1"/home/.tools/bin/tool "$1"/home/.tools/lib/data`); strings.Contains(out, "canary") || !strings.Contains(out, "finefine") {
		t.Errorf("got: %s", out)
	}
}

// A home behind a link is found under both names.
func TestAHomeBehindALink(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	if err := os.Symlink("home", filepath.Join(root, "h")); err != nil {
		t.Fatal(err)
	}
	w.box.Home = filepath.Join(root, "h")
	w.box.Homes = []string{filepath.Join(root, "h", ".codex")}
	w.put("home/.profile", "canary")
	if out := w.run(tool, `cat ~/.codex/auth.json "$1/home/.codex/auth.json" ~/bin/tool; echo x >~/new && cat "$1/home/new" ~/.profile`); !strings.HasPrefix(out, "finefinefinex\n") || strings.Contains(out, "canary") {
		t.Errorf("got: %s", out)
	}
}

// An agent's home in a system folder is completely visible to the agent, whatever the permissions
// of its files, and hidden from tests.
func TestAnAgentsHomeBelowOpt(t *testing.T) {
	tool := tool(t)
	dir, ok := folderIn(t, "/opt")
	if !ok {
		t.Skip("/opt may not be written")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := elsewhere(t)
	for _, name := range []string{"auth.json", "out"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("fine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.box.Homes = []string{dir}
	if out := w.run(tool, `cat `+dir+`/auth.json; echo new >`+dir+`/out; cat `+dir+`/out`); out != "finenew\n" {
		t.Errorf("the agent: %s", out)
	}
	w.job.For = work.RunsTests
	if out := w.run(tool, `cat `+dir+`/*; ls -A `+dir); strings.Contains(out, "fine") || strings.Contains(out, "auth.json") {
		t.Errorf("the tests: %s", out)
	}
}

// Only world-readable files of /etc are visible: root or a group's member could read more, and no
// agent needs it.
func TestEtcIsWhatEverybodyMayRead(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"hosts": 0o644, "shadow": 0o640, "key": 0o600, "public/a": 0o644, "private/a": 0o644, "private/deep/b": 0o644, "public/own": 0o440, "app/go.env": 0o644, "app/token": 0o600} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "private"), 0o710); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "public", "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var got []string
	for _, p := range secretIn(dir, 12) {
		got = append(got, strings.TrimPrefix(p, dir+"/"))
	}
	slices.Sort(got)
	if want := []string{"app/token", "key", "private", "public/own", "public/sock", "shadow"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if os.Getuid() != 0 {
		return // another user sees no such files anyway
	}
	w := elsewhere(t)
	if out := w.run(tool(t), `cat /etc/shadow /etc/gshadow; ls /etc/ssl/private; cat /etc/passwd | head -1`); !strings.HasPrefix(out, "root:x:") {
		t.Errorf("got: %s", out)
	}
}

// A Tool walks the system's folders once, and not through the thousands of files of Go.
func TestTheSystemsFoldersAreWalkedOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"VERSION": "go1.26.8\n", "go.env": "", "src/a.go": ""} {
		path := filepath.Join(dir, "go", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := secretIn(dir, 12); len(got) != 0 {
		t.Errorf("found %q in Go", got)
	}
	w := elsewhere(t)
	walks := 0
	tool := tool(t)
	tool.secrets = sync.OnceValue(func() []string { walks++; return systemSecrets() })
	w.run(tool, `true`)
	w.run(tool, `true`)
	if walks != 1 {
		t.Errorf("%d walks for two runs", walks)
	}
}

// A plan looks at a path once, however often it is on the way to another one.
func TestAPlanLooksAtAPathOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l := newLayout(Box{}, dir)
	before := l.real(filepath.Join(dir, "link"))
	if err := os.Remove(filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if after := l.real(filepath.Join(dir, "link")); after != before || before == filepath.Join(dir, "link") {
		t.Errorf("%q became %q within a plan", before, after)
	}
}

// Secrets that toolchains keep beside their programs stay hidden: logins of publishing tools,
// settings of registries.
func TestToolchainsKeepTheirSecrets(t *testing.T) {
	w := elsewhere(t)
	secret := []string{
		".local/share/uv/credentials/credentials.toml", ".rye/credentials", ".opam/plugins/opam-publish/me.token", ".nvm/versions/node/v22.0.0/etc/npmrc",
		"miniconda3/.condarc", ".linuxbrew/etc/npmrc",
	}
	for _, name := range secret {
		w.put(filepath.Join("home", name), "canary")
	}
	for _, name := range []string{".local/share/uv/tools/a", ".rye/py/a", ".opam/default/bin/a", ".nvm/versions/node/v22.0.0/bin/a", "miniconda3/bin/a", ".linuxbrew/bin/a"} {
		w.put(filepath.Join("home", name), "fine")
		if out := w.run(tool(t), `cat "$1/home/`+name+`"`); out != "fine" {
			t.Errorf("%s: %s", name, out)
		}
	}
	for _, name := range secret {
		if out := w.run(tool(t), `cat "$1/home/`+name+`"`); strings.Contains(out, "canary") {
			t.Errorf("%s is readable", name)
		}
	}
}
