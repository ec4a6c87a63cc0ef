package git

import (
	"context"
	"errors"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// serve serves the remote by smart HTTP with a password.
func (w *world) serve(password string) string {
	w.t.Helper()
	dir := strings.TrimSpace(w.cmd(w.root, "--exec-path"))
	backend := filepath.Join(dir, "git-http-backend")
	if !files.Exists(backend) {
		w.t.Skip("no git-http-backend")
	}
	w.cmd(w.remote, "config", "http.receivepack", "true")
	h := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + w.root, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: os.Stderr}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(rw, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(s.Close)
	return s.URL + "/remote.git"
}

// The operator's credential helper is used by network commands only.
func TestOperatorsCredentialHelper(t *testing.T) {
	w := newWorld(t, tree)
	url := w.serve("pass")
	asked := filepath.Join(w.root, "asked")
	helper := filepath.Join(w.root, "helper")
	w.write(helper, "#!/bin/sh\necho \"$1\" >>"+asked+"\n[ \"$1\" = get ] && printf 'username=u\\npassword=pass\\n'\nexit 0\n")
	w.check(os.Chmod(helper, 0o755))
	w.write(filepath.Join(w.home, ".gitconfig"), w.read(filepath.Join(w.home, ".gitconfig"))+"[credential]\n\thelper = "+helper+"\n[url \""+url+"\"]\n\tinsteadOf = https://forge.test/o/n\n")
	w.open(Options{})
	w.mirror = w.mirrorOf("https://forge.test/o/n")
	w.restore()
	w.put("a.txt", "x")
	c := w.mustCommit()
	w.check(w.mirror.Push(t.Context(), branch, c.OID, ""))
	if got := w.cmd(w.remote, "rev-parse", branch); got != c.OID {
		t.Errorf("remote = %q", got)
	}
	if !strings.Contains(w.read(asked), "get") {
		t.Error("the helper was not asked")
	}
	if got, _ := w.try(w.dir, "config", "--local", "--list"); strings.Contains(got, "credential") || strings.Contains(got, "forge") {
		t.Errorf("the agent's config: %s", got)
	}
}

func TestGhGivesCredentials(t *testing.T) {
	w := newWorld(t, tree)
	gh := filepath.Join(w.root, "bin with 'quote", "gh")
	w.write(gh, "#!/bin/sh\n[ \"$*\" = 'auth git-credential get' ] && printf 'username=u\\npassword=pass\\n'\nexit 0\n")
	w.check(os.Chmod(gh, 0o755))
	w.open(Options{GhPath: gh})
	// Git runs the helper, as for a remote.
	w.mirror = w.mirrorOf("https://forge.test/o/n")
	fill := w.mirror.remoteCommand(t.Context(), "credential", "fill")
	fill.Stdin = []byte("protocol=https\nhost=forge.test\n\n")
	w.check(w.mirror.Ensure(t.Context()))
	out, err := fill.text(t.Context())
	if err != nil || !strings.Contains(out, "password=pass") {
		t.Errorf("credential = %q, %v", out, err)
	}
	w.mirror = w.mirrorOf(w.remote)
	if c := w.mirror.remoteCommand(t.Context(), "fetch"); len(c.Config) != 0 {
		t.Errorf("a local remote gets %q", c.Config)
	}
}

// Git gets the token of the account with which the pass began, on a pipe, and sends it to one host only. A
// later login of gh changes nothing.
func TestTheTokenComesOnAPipe(t *testing.T) {
	w := newWorld(t, tree)
	gh := filepath.Join(w.root, "gh")
	w.write(gh, "#!/bin/sh\nprintf 'username=u\\npassword=of-the-other-account\\n'\n")
	w.check(os.Chmod(gh, 0o755))
	spy := filepath.Join(w.root, "spy") // sees what a program that git starts has as arguments and environment
	w.open(Options{GhPath: gh, Token: func(context.Context, string) string { return "s3cret-token" }})
	w.mirror = w.mirrorOf("https://forge.test/o/n")
	w.check(w.mirror.Ensure(t.Context()))
	ask := func(host string) string {
		fill := w.mirror.remoteCommand(t.Context(), "credential", "fill")
		fill.Config = append(fill.Config, "credential.helper=!cat /proc/$PPID/cmdline /proc/$PPID/environ >>"+spy+" 2>/dev/null; env >>"+spy+"; true")
		fill.Stdin = []byte("protocol=https\nhost=" + host + "\n\n")
		out, _ := fill.text(t.Context())
		return out
	}
	if got := ask("forge.test"); !strings.Contains(got, "username=x-access-token\npassword=s3cret-token") {
		t.Errorf("credential = %q", got)
	}
	if got := ask("elsewhere.test"); strings.Contains(got, "s3cret") || strings.Contains(got, "other-account") {
		t.Errorf("another host gets %q", got)
	}
	if seen := w.read(spy); strings.Contains(seen, "s3cret") || !strings.Contains(seen, "PATH=") {
		t.Errorf("another program sees %q", seen)
	}
}

func TestRemoteErrorsAreTyped(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	answer := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(status)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/o/n.git"
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		url    string
		access bool
	}{
		{answer(404), true},
		{answer(403), true},
		{answer(401), true},
		{answer(503), false},
		{strings.Replace(gone.URL, "http://", "http://user:s3cret@", 1) + "/x", false},
		{"https://host.invalid/o/n", false},
		{filepath.Join(w.root, "nowhere.git"), true},
	} {
		w.mirror = w.mirrorOf(c.url)
		w.check(w.mirror.Ensure(t.Context()))
		for _, err := range []error{
			w.mirror.Fetch(t.Context()),
			func() error { _, err := w.mirror.RemoteHeads(t.Context(), ""); return err }(),
		} {
			var access *AccessError
			var network *NetworkError
			if errors.As(err, &access) != c.access || errors.As(err, &network) == c.access {
				t.Errorf("%s: %v", c.url, err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a password in %v", err)
			}
		}
	}
}

func TestNoPermissionBeforeAnythingWasSent(t *testing.T) {
	testhome.NotShort(t)
	w, oid := pushed(t)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(s.Close)
	w.mirror = w.mirrorOf(s.URL + "/o/n.git")
	var rejected *RejectedError
	if err := w.mirror.Push(t.Context(), branch, oid, ""); !errors.As(err, &rejected) || rejected.Hint == "" {
		t.Errorf("err = %v", err)
	}
	s.Close()
	var unclear *UnclearError
	if err := w.mirror.Push(t.Context(), branch, oid, ""); !errors.As(err, &unclear) {
		t.Errorf("err = %v", err)
	}
}

func TestSigning(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen")
	}
	key := filepath.Join(w.home, "key")
	if out, err := exec.CommandContext(t.Context(), keygen, "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config := filepath.Join(w.home, ".gitconfig")
	w.write(config, w.read(config)+"[commit]\n\tgpgSign\n[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = "+key+"\n")
	w.open(Options{})
	if !w.git.signsCommits() {
		t.Fatal("the operator's git signs")
	}
	base := w.restore()
	w.put("a.txt", "signed")
	c := w.mustCommit()
	if raw := w.cmd(w.mirror.Dir(), "cat-file", "commit", c.OID); !strings.Contains(raw, "gpgsig -----BEGIN SSH SIGNATURE") {
		t.Errorf("commit = %s", raw)
	}
	moved := w.commit("moved", map[string]string{"m": "m"})
	w.fetch()
	r, err := w.mirror.Replay(t.Context(), c.OID, moved)
	w.check(err)
	if raw := w.cmd(w.mirror.Dir(), "cat-file", "commit", r.OID); !strings.Contains(raw, "gpgsig ") {
		t.Error("the replayed commit is not signed")
	}
	w.check(os.Remove(key))
	change := w.change()
	change.Parents = []string{base}
	var unsigned *SigningError
	if _, err := w.mirror.CommitTree(t.Context(), change); !errors.As(err, &unsigned) || unsigned.Detail == "" {
		t.Errorf("err = %v", err)
	}
	// Partial work stays on the machine.
	if _, err := w.mirror.KeepPartial(t.Context(), Partial{Key: key1, Dir: w.dir, Index: w.index, Parent: base, Date: day}); err != nil {
		t.Error(err)
	}
}

func TestOperatorsExcludesAreCarriedOver(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, tree)
	w.write(filepath.Join(w.home, "ignore"), "*.swp\n")
	w.write(filepath.Join(w.home, ".gitconfig"), w.read(filepath.Join(w.home, ".gitconfig"))+"[core]\n\texcludesFile = ~/ignore\n[alias]\n\tst = status\n")
	w.open(Options{})
	w.restore()
	w.put("x.swp", "x")
	w.put("y", "y")
	if c := w.mustCommit(); strings.Join(c.Files, " ") != "y" {
		t.Errorf("files = %q", c.Files)
	}
	if got := w.cmd(w.dir, "status", "--porcelain"); got != "?? y" {
		t.Errorf("the agent sees %q", got)
	}
}
