package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is drawn is XML with all the text in it, and nothing of the text is markup.
func TestTerminal(t *testing.T) {
	got := terminal("gh mergexo status", "\x1b[2mITEM  STATE\x1b[m\na/b#1  <script>alert(1)</script> & more\n")
	texts := textsOf(t, got)
	for _, want := range []string{"$ gh mergexo status", "ITEM  STATE", "a/b#1  <script>alert(1)</script> & more"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no %q in %q", want, texts)
		}
	}
	if strings.Contains(got, "<script") || !strings.Contains(got, `class="dim"`) {
		t.Error(got)
	}
}

func TestPull(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pull.json":     `{"title":"Greet <b>","number":4,"commits":2,"user":{"login":"olga"},"head":{"ref":"h"},"base":{"ref":"main"},"body":"It **is** so.\n\n<!-- hidden -->","created_at":"2026-11-23T01:00:00Z"}`,
		"comments.json": `[{"user":{"login":"ann"},"body":"second","created_at":"2026-11-23T03:00:00Z"}]`,
		"reviews.json":  `[{"user":{"login":"bob"},"body":"third","state":"APPROVED","submitted_at":"2026-11-23T04:00:00Z"}]`,
		"lines.json":    `[{"user":{"login":"bob"},"body":"first","path":"greet.sh","line":3,"created_at":"2026-11-23T02:00:00Z"}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := readPull(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := textsOf(t, p.picture())
	last := -1
	for _, want := range []string{"Greet <b> #4", "It is so.", "commented on greet.sh, line 3", "first", "second", "approved these changes", "third"} {
		at := strings.Index(texts, want)
		if at <= last {
			t.Errorf("%q is not there, or not in its place: %q", want, texts)
		}
		last = at
	}
	if strings.Contains(texts, "hidden") {
		t.Error(texts)
	}
}

// textsOf reads a picture as XML, and gives its texts.
func textsOf(t *testing.T, picture string) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}
