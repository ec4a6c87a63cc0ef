package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func message() Message {
	return Message{ID: "d1", Event: "question", Body: `{"version":1,"title":"a <b> & \"c\""}`, At: noon}
}

func TestPost(t *testing.T) {
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "thanks\n")
	}))
	defer s.Close()
	a := Send(t.Context(), Target{URL: s.URL + "/hook", Secret: "s3cret", Timeout: time.Minute}, message())
	if a.Fate != Taken || a.Says != "200 OK: thanks" {
		t.Fatalf("%+v", a)
	}
	if string(body) != message().Body || got.Method != http.MethodPost || got.URL.Path != "/hook" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %s", got.Method, got.URL, body)
	}
	if got.Header.Get("X-Mergexo-Delivery") != "d1" || got.Header.Get("X-Mergexo-Event") != "question" {
		t.Errorf("%v", got.Header)
	}
	// As docs/operating.md has receivers check it.
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(got.Header.Get("X-Mergexo-Timestamp") + "." + string(body)))
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); got.Header.Get("X-Mergexo-Signature-256") != want {
		t.Errorf("signature %q, want %q", got.Header.Get("X-Mergexo-Signature-256"), want)
	}
	if got.Header.Get("X-Mergexo-Timestamp") != "1795435200" {
		t.Errorf("timestamp %q", got.Header.Get("X-Mergexo-Timestamp"))
	}
	_ = Send(t.Context(), Target{URL: s.URL, Timeout: time.Minute}, message())
	if _, signed := got.Header["X-Mergexo-Signature-256"]; signed {
		t.Error("signed without a secret")
	}
}

func TestPostIsNotFollowed(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	for _, code := range []int{301, 302, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other.URL, code))
		a := Send(t.Context(), Target{URL: s.URL, Timeout: time.Minute}, message())
		s.Close()
		if a.Fate != Refused || reached.Load() || !strings.Contains(a.Says, "redirect is not followed") {
			t.Errorf("%d: %+v, reached: %v", code, a, reached.Load())
		}
	}
}

func TestPostThatFails(t *testing.T) {
	hang := make(chan struct{})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"refused":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "invalid_payload", 400) }, "400 Bad Request: invalid_payload"},
		"broken":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500 Internal Server Error"},
		"never":       {func(http.ResponseWriter, *http.Request) { <-hang }, "no answer within 100ms"},
		"cut":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"much of it":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); _, _ = w.Write(make([]byte, 1<<20)) }, "404 Not Found"},
		"is redacted": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SECRET", 400) }, "400 Bad Request: ***"},
	} {
		s := httptest.NewServer(c.answer)
		limit := time.Minute
		if name == "never" {
			limit = 100 * time.Millisecond
		}
		a := Send(t.Context(), Target{URL: s.URL, Timeout: limit, Redact: func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }}, message())
		if a.Fate != Refused || !strings.HasPrefix(a.Says, c.says) || len(a.Says) > 400 {
			t.Errorf("%s: %+v", name, a)
		}
		if name == "never" {
			close(hang)
		}
		s.Close()
	}
}

// A status line is the other side's as well: what is told of it is short.
func TestPostThatIsAnsweredAtLength(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	long := strings.Repeat("x", 100<<10)
	for _, answer := range []string{"HTTP/1.1 500 " + long + "\r\nContent-Length: 0\r\n\r\n", long + "\r\n\r\n"} {
		go func() {
			if c, err := l.Accept(); err == nil {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		}()
		if a := Send(t.Context(), Target{URL: "http://" + l.Addr().String(), Timeout: time.Minute}, message()); a.Fate != Refused || len(a.Says) > 700 {
			t.Errorf("%s with %d bytes", a.Fate, len(a.Says))
		}
	}
}

// Nothing went out where nobody listens: that may be tried again.
func TestPostThatReachesNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/T0/secret"
	_ = l.Close()
	a := Send(t.Context(), Target{URL: url, Timeout: time.Minute}, message())
	if a.Fate != Unreached || strings.Contains(a.Says, "secret") {
		t.Errorf("%+v", a)
	}
	if a := Send(t.Context(), Target{URL: "http://no-such-host.invalid/secret", Timeout: time.Minute}, message()); a.Fate != Unreached || strings.Contains(a.Says, "/secret") {
		t.Errorf("%+v", a)
	}
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tell")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GH_TOKEN", "ghp_never")
	tell := script(t, `cat > "$1/got"; env > "$1/env"; echo "told $2"`)
	a := Send(t.Context(), Target{Command: []string{tell, dir, `$(date) "x"`}, Env: []string{"PATH=/usr/bin:/bin", "KEY=k"}, Dir: dir, Timeout: time.Minute}, message())
	if a.Fate != Taken || a.Says != `it ended with exit code 0: told $(date) "x"` {
		t.Fatalf("%+v", a)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != message().Body+"\n" {
		t.Errorf("%q", got)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "env"))
	if !strings.Contains(string(env), "KEY=k\n") || strings.Contains(string(env), "ghp_never") {
		t.Errorf("%s", env)
	}
}

func TestCommandThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		does string
		fate Fate
		says string
	}{
		"exit code":       {"echo 'no route to it' >&2; exit 7", Refused, "it ended with exit code 7: no route to it"},
		"prints too much": {"yes", Refused, "it printed more than may be"},
		"reads nothing":   {"exit 0", Taken, "it ended with exit code 0"},
	} {
		a := Send(t.Context(), Target{Command: []string{script(t, c.does)}, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Minute}, message())
		if a.Fate != c.fate || !strings.HasPrefix(a.Says, c.says) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := Send(t.Context(), Target{Command: []string{filepath.Join(t.TempDir(), "absent")}, Timeout: time.Minute}, message()); a.Fate != Unreached {
		t.Errorf("%+v", a)
	}
}

// What a program started is ended with it once its time is over: nobody has the pipe open
// any more.
func TestCommandEndsInTime(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	if err := exec.CommandContext(t.Context(), "mkfifo", alive).Run(); err != nil {
		t.Fatal(err)
	}
	reads, err := os.OpenFile(alive, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for the program, which may end before it has begun
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	a := Send(t.Context(), Target{
		Command: []string{script(t, `exec 9>"$1"; sleep 300 & sleep 300`), alive}, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Second,
	}, message())
	if a.Fate != Refused || a.Says != "it did not end within 1s" {
		t.Errorf("%+v", a)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(reads)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testhome.Patience()):
		t.Error("what it started went on")
	}
}

// Whoever sends may have less time than the target: what it says is not the target's limit.
func TestNoTimeLeft(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer s.Close()
	defer close(hang)
	for _, target := range []Target{{URL: s.URL}, {Command: []string{script(t, "exec sleep 60")}, Dir: t.TempDir()}} {
		target.Timeout = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if a := Send(ctx, target, message()); a.Fate != Refused || a.Says != "there was no time left to wait for an answer" {
			t.Errorf("%+v", a)
		}
		cancel()
	}
}
