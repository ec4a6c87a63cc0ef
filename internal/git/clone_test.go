package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A first fetch that is cut off keeps its steps, and nobody takes what it has for the whole history. The next one
// continues where it ended.
func TestCloneKeepsItsSteps(t *testing.T) {
	w := newWorld(t, tree)
	w.lengthen(1500)
	calls := filepath.Join(w.root, "calls")
	cut := filepath.Join(w.root, "cut")
	script := "#!/bin/sh\nfor a; do case $a in --depth=*|--deepen=*) echo $a >>" + calls + "; esac; done\n" +
		"case \"$*\" in *--deepen=3200*) test -e " + cut + " || { touch " + cut + "; echo 'fatal: the remote end hung up unexpectedly' >&2; exit 128; }; esac\nexec git \"$@\"\n"
	bin := filepath.Join(w.root, "git.sh")
	w.check(os.WriteFile(bin, []byte(script), 0o700)) //nolint:gosec // a program
	w.open(Options{Bin: bin})
	head := w.cmd(w.remote, "rev-parse", "main")
	network := (*NetworkError)(nil)
	if err := w.mirror.Fetch(t.Context()); !errors.As(err, &network) {
		t.Fatalf("it was not cut off: %v", err)
	}
	if n := w.cmd(w.mirror.Dir(), "rev-list", "--count", "refs/remotes/origin/main"); n != "1000" {
		t.Errorf("it kept %s commits", n)
	}
	if w.mirror.Has(t.Context(), head) {
		t.Error("a commit without its history counts")
	}
	w.fetch()
	if n := w.cmd(w.mirror.Dir(), "rev-list", "--count", "refs/remotes/origin/main"); n != "1501" || !w.mirror.Has(t.Context(), head) {
		t.Errorf("it has %s commits", n)
	}
	w.fetch()
	told, err := os.ReadFile(calls)
	w.check(err)
	if got := strings.Fields(string(told)); fmt.Sprint(got) != "[--depth=200 --deepen=800 --deepen=3200 --deepen=200 --deepen=800]" {
		t.Errorf("calls: %q", got)
	}
	w.cmd(w.mirror.Dir(), "fsck", "--connectivity-only")
	if _, err := os.Stat(filepath.Join(w.mirror.Dir(), work.CloneProgress)); err == nil {
		t.Error("its progress stays")
	}
}

// The ends of a remote that is shallow itself never move.
func TestCloneOfAShallowClone(t *testing.T) {
	w := newWorld(t, tree)
	w.lengthen(10)
	shallow := filepath.Join(w.root, "shallow.git")
	w.cmd(w.root, "clone", "-q", "--bare", "--depth=3", "file://"+w.remote, shallow)
	w.mirror = w.mirrorOf(shallow)
	if err := w.mirror.Fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "is a shallow clone itself") {
		t.Errorf("got %v", err)
	}
}

// While a first clone is cut off, people replace the whole history of main: nothing reaches the ends that
// git has noted.
func TestHistoryIsReplacedDuringAClone(t *testing.T) {
	w := newWorld(t, tree)
	w.lengthen(1500)
	w.open(Options{Bin: w.fake("case \"$*\" in *--deepen=*) echo 'fatal: the remote end hung up unexpectedly' >&2; exit 128 ;; esac\nexec git \"$@\"\n")})
	network := (*NetworkError)(nil)
	if err := w.mirror.Fetch(t.Context()); !errors.As(err, &network) || !w.mirror.partial() {
		t.Fatalf("it was not cut off: %v", err)
	}
	old := w.cmd(w.remote, "rev-parse", "main")
	w.cmd(w.person, "checkout", "-q", "--orphan", "fresh")
	w.cmd(w.person, "commit", "-q", "-m", "fresh")
	w.cmd(w.person, "push", "-q", "-f", "origin", "HEAD:main")
	w.open(Options{})
	w.fetch()
	if head := w.cmd(w.remote, "rev-parse", "main"); w.main() != head || !w.mirror.Has(t.Context(), head) {
		t.Errorf("main = %s, is %s", w.main(), head)
	}
	if w.mirror.Has(t.Context(), old) {
		t.Error("a commit without its history counts")
	}
}

// lengthen adds commits to the remote's main.
func (w *world) lengthen(n int) {
	w.t.Helper()
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 1\n.\n", 1700000000+i)
		if i == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline n\ndata %d\n%d\n", len(fmt.Sprint(i)), i)
	}
	file := filepath.Join(w.root, "stream")
	w.check(os.WriteFile(file, []byte(stream.String()), 0o600))
	w.cmd(w.root, "-c", "alias.import=!git -C '"+w.remote+"' fast-import --quiet <'"+file+"'", "import")
}

func TestProgressOfAClone(t *testing.T) {
	p := &progressFile{path: filepath.Join(t.TempDir(), "p")}
	for _, step := range [][2]string{
		{"remote: Enumerating objects: 9, done.\n", ""},
		{"remote: Counting objects:  11% (1/9)\r", "11 % (counting objects)"},
		{"\nReceiving objects:  41% (4/9), 1.0 MiB | 2 MiB/s\rReceiving objects:  42% (4/9)\r", "42 % (receiving objects)"},
		{"Rece", "42 % (receiving objects)"},
		{"\nResolving deltas: 100% (9/9), done.\n", "100 % (resolving deltas)"},
	} {
		if _, err := p.Write([]byte(step[0])); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(p.path); string(got) != step[1] {
			t.Errorf("after %q: %q", step[0], got)
		}
	}
}
