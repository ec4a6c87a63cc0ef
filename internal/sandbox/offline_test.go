//go:build unix

package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// An offline command reaches not even this machine's loopback or its abstract sockets.
func TestOffline(t *testing.T) {
	tool, w := tool(t), newWorld(t)
	bash, err := proc.LookPath("bash", os.Getenv("PATH"))
	if err != nil {
		t.Skip("no bash here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, offline := range []bool{false, true} {
		w.job.Offline = offline
		out := w.exec(tool, bash, "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+" && echo connected; echo done; cat /proc/net/unix")
		if connected := strings.Contains(out, "connected"); connected == offline || !strings.Contains(out, "done") || offline && strings.Contains(out, " @") {
			t.Errorf("offline %v: %s", offline, out)
		}
	}
}

// The path at which the set-up ran leads to the checkout of the command, wherever the state folder
// lies; in the set-up's own run it is the checkout.
func TestTheSetupsPathLeadsToTheCheckout(t *testing.T) {
	tool := tool(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no mounts here")
	}
	for _, w := range []*world{newWorld(t), elsewhere(t)} {
		w.box.SetUp = filepath.Join(w.state, "setups", "o", "r", "checkout")
		if out := w.exec(tool, "/bin/sh", "-c", `cat "$0/a.txt"; echo new >"$0/b.txt"; cat b.txt`, w.box.SetUp); out != "minenew\n" {
			t.Errorf("got: %s", out)
		}
		w.put("state/setups/o/r/checkout/a.txt", "of the set-up")
		if out := w.exec(tool, "/bin/sh", "-c", `cat "$0/a.txt"`, w.box.SetUp); out != "mine" {
			t.Errorf("while one runs: %s", out)
		}
		w.dir = w.box.SetUp
		w.job.Dir = w.dir
		if out := w.exec(tool, "/bin/sh", "-c", `cat a.txt "$0/a.txt"`, w.box.SetUp); out != "of the set-upof the set-up" {
			t.Errorf("in its own run: %s", out)
		}
	}
}
