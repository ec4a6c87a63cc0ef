//go:build unix

package story

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// example is the path of a program to copy.
func example(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "share", "notify", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// needs skips what this machine has no programs for.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// tell runs an example as a pass does, with a message that is full of what must be quoted.
func tell(t *testing.T, env []string, program string, args ...string) {
	t.Helper()
	m := news.Trial("x", time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	m.Event, m.Repository, m.Number, m.URL = news.Question, "octo/app", 12, "https://github.com/octo/app/issues/12"
	m.Title, m.Says, m.Do = "A \"title\" <!channel> & $(id)\nBcc: eve@example.com", "which `one`?\n.\nor é", "answer"
	m.Text = "Question: " + m.Title
	c := exec.CommandContext(t.Context(), program, args...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	c.Stdin = strings.NewReader(m.JSON() + "\n")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// receives takes one request, whose path and body it gives.
func receives(t *testing.T) (address string, got func() (string, map[string]any)) {
	t.Helper()
	var path string
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		path = r.Method + " " + r.URL.Path
		body, _ = io.ReadAll(r.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() (string, map[string]any) {
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatalf("%v in %q", err, body)
		}
		return path, fields
	}
}

func TestTheSlackExample(t *testing.T) {
	needs(t, "curl", "jq")
	address, got := receives(t)
	tell(t, []string{"SLACK_WEBHOOK=" + address + "/services/T0/B0/x"}, example(t, "tell-slack"))
	path, fields := got()
	if path != "POST /services/T0/B0/x" || len(fields) != 1 || fields["text"] != "Question: A \"title\" &lt;!channel&gt; &amp; $(id)\nBcc: eve@example.com" {
		t.Errorf("%s: %q", path, fields)
	}
}

func TestTheNtfyExample(t *testing.T) {
	needs(t, "curl", "jq")
	address, got := receives(t)
	tell(t, nil, example(t, "tell-ntfy"), address+"/my-topic")
	path, fields := got()
	if path != "POST /" || fields["topic"] != "my-topic" || fields["title"] != "question octo/app" || fields["message"] != "which `one`?\n.\nor é" ||
		fields["click"] != "https://github.com/octo/app/issues/12" || fields["priority"] != 3.0 {
		t.Errorf("%s: %q", path, fields)
	}
}

func TestTheMailExample(t *testing.T) {
	needs(t, "jq")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sendmail"), []byte("#!/bin/sh\necho \"$@\" >\"${0%/*}/args\"\ncat >\"${0%/*}/mail\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tell(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, example(t, "tell-mail"), "me@example.com")
	mail, err := os.ReadFile(filepath.Join(dir, "mail"))
	if err != nil {
		t.Fatal(err)
	}
	head, text, _ := bytes.Cut(mail, []byte("\n\n"))
	if regexp.MustCompile(`(?im)^bcc:`).Match(head) || !bytes.HasPrefix(head, []byte("To: me@example.com\n")) {
		t.Errorf("%s", head)
	}
	m := regexp.MustCompile(`(?m)^Subject: =\?UTF-8\?B\?([A-Za-z0-9+/=]+)\?=$`).FindSubmatch(head)
	if m == nil {
		t.Fatalf("%s", head)
	}
	subject, err := base64.StdEncoding.DecodeString(string(m[1]))
	if want := "[mergexo] question octo/app A \"title\" <!channel> & $(id)\nBcc: eve@example.com"; err != nil || string(subject) != want {
		t.Errorf("%v: %q", err, subject)
	}
	if string(text) != "which `one`?\n.\nor é\n\nanswer\n\nhttps://github.com/octo/app/issues/12\n" {
		t.Errorf("%q", text)
	}
	if args, _ := os.ReadFile(filepath.Join(dir, "args")); string(args) != "-t\n" {
		t.Errorf("%q", args)
	}
}
