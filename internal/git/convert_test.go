package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// as16 encodes text in UTF-16.
func as16(text string, little, mark bool) string {
	var b strings.Builder
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	for _, u := range units {
		if little {
			b.WriteString(string([]byte{byte(u), byte(u >> 8)}))
		} else {
			b.WriteString(string([]byte{byte(u >> 8), byte(u)}))
		}
	}
	return b.String()
}

// oddAttributes are rules of many kinds, by file extension.
const oddAttributes = `*.auto text=auto
*.cs text
*.bat text eol=crlf
*.sh eol=lf
*.old crlf
*.oldin crlf=input
*.gold -text
*.bin binary
*.odd text=nonsense
*.both text=auto eol=crlf
*.id ident text
*.utf working-tree-encoding=UTF-8 text
*.flt filter=trap text
`

// What is committed of a file is what "git add" stores of it in a clone.
func TestCommitStoresWhatAddStores(t *testing.T) {
	extensions := []string{"auto", "cs", "bat", "sh", "old", "oldin", "gold", "bin", "odd", "both", "id", "plain", "utf", "flt"}
	before := map[string]string{"none": "", "lf": "one\n", "crlf": "one\r\ntwo\r\n", "nul": "\x00\r\n"}
	after := map[string]string{
		"lf": "a\n", "crlf": "a\r\nb\r\n", "mixed": "a\nb\r\n", "lone": "a\rb\r\n", "twice": "a\r\r\n", "nul": "a\x00\r\n", "low": "\x01a\r\n",
		"id": "x $Id: abc $ $Id$ $Id: a\n$ $Id:$\r\n", "end": "a\r\n\x1a", "latin": "\xe9\r\n", "empty": "",
	}
	files, wrote := map[string]string{".gitattributes": ""}, map[string]string{}
	for _, ext := range extensions {
		for b, old := range before {
			for a, now := range after {
				name := b + "-" + a + "." + ext
				if b != "none" {
					files[name] = old
				}
				wrote[name] = now
			}
		}
	}
	w := newWorld(t, nil)
	script, sprung := w.trap()
	w.commit("first", files)
	w.commit("attributes", map[string]string{".gitattributes": oddAttributes}) // files with CRLF stay as they are
	w.restore()
	for name, content := range wrote {
		w.put(name, content)
	}
	got := w.mustCommit()

	clone := filepath.Join(w.root, "clone")
	w.cmd(w.root, "clone", "-q", w.remote, clone)
	for name, content := range wrote {
		w.write(filepath.Join(clone, name), content)
	}
	w.cmd(clone, "add", "--all")
	want := w.cmd(clone, "write-tree")
	if got.Tree != want {
		w.cmd(clone, "fetch", "-q", w.mirror.Dir(), "+refs/*:refs/theirs/*")
		diff, _ := w.tryWith([]string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(w.mirror.Dir(), "objects")}, clone, "diff-tree", "-r", "--name-only", want, got.Tree)
		t.Errorf("differs from what git add stores:\n%s", diff)
	}
	w.cmd(w.root, "config", "--global", "filter.trap.clean", script)
	w.open(Options{})
	w.put("again.flt", "b\r\n")
	w.mustCommit()
	if _, err := os.Lstat(sprung); err == nil {
		t.Error("a filter ran")
	}
}

// A clone of what was committed has nothing to commit.
func TestCloneOfACommitIsClean(t *testing.T) {
	w := newWorld(t, map[string]string{
		".gitattributes": "*.cs text\n*.bat text eol=crlf\n*.rc text working-tree-encoding=UTF-16LE-BOM eol=crlf\n", "a.cs": "1\n", "a.bat": "1\n",
	})
	w.cmd(w.person, "config", "core.autocrlf", "false")
	w.restore()
	w.put("a.cs", "1\r\n2\r\n")
	w.put("a.bat", "1\r\n2\r\n")
	w.put("new.rc", "é\r\n")
	c := w.mustCommit()
	for name, want := range map[string]string{"a.cs": "1\n2\n", "a.bat": "1\n2\n", "new.rc": "é\n"} {
		if got := w.show(c.OID, name); got != want {
			t.Errorf("%s = %q", name, got)
		}
	}
	w.cmd(w.mirror.Dir(), "push", "-q", w.remote, c.OID+":refs/heads/work")
	clone := filepath.Join(w.root, "clone")
	w.cmd(w.root, "clone", "-q", "-b", "work", w.remote, clone)
	w.cmd(clone, "update-index", "--really-refresh")
	if got := w.cmd(clone, "status", "--porcelain"); got != "" {
		t.Errorf("status = %q", got)
	}
	if got := w.read(filepath.Join(clone, "new.rc")); got != as16("é\r\n", true, true) {
		t.Errorf("new.rc in a clone = %q", got)
	}
	w.cmd(clone, "checkout", "-q", "HEAD~1")
}

// Attributes decide on files, too, that only they concern: a clone of the commit has nothing to commit.
// Bytes of a binary file stay.
func TestCloneAfterAChangeOfAttributesIsClean(t *testing.T) {
	w := newWorld(t, map[string]string{
		"App.cs": "one\r\ntwo\r\n", "id.txt": "$Id: x $\n", "latin.cs": "\xe9\r\n", "auto.md": "1\r\n", "logo.png": "\x00\r\n", "other.c": "1\r\n",
	})
	w.restore()
	w.put("sub/x.cs", "new\r\n")
	w.put(".gitattributes", "*.cs text\n*.txt ident\n*.md text=auto\n*.png text\n")
	c := w.mustCommit()
	for name, want := range map[string]string{"App.cs": "one\ntwo\n", "id.txt": "$Id$\n", "latin.cs": "\xe9\n", "sub/x.cs": "new\n"} {
		if got := w.show(c.OID, name); got != want {
			t.Errorf("%s = %q", name, got)
		}
	}
	if want := []string{".gitattributes", "App.cs", "id.txt", "latin.cs", "sub/x.cs"}; !slices.Equal(c.Files, want) {
		t.Errorf("committed %q", c.Files)
	}
	w.put(".gitattributes", "*.cs text\n*.txt ident\n*.md text=auto\n")
	c = w.mustCommit()
	w.cmd(w.mirror.Dir(), "push", "-q", w.remote, c.OID+":refs/heads/work")
	clone := filepath.Join(w.root, "clone")
	w.cmd(w.root, "clone", "-q", "-b", "work", w.remote, clone)
	w.cmd(clone, "update-index", "--really-refresh")
	if got := w.cmd(clone, "status", "--porcelain"); got != "" {
		t.Errorf("status = %q", got)
	}
}

// With an encoding that has no value git checks nothing out, and one for files that are stored in it makes each clone
// differ.
func TestAttributesThatGitCannotFollowAreRefused(t *testing.T) {
	for attributes, want := range map[string]string{
		"*.txt working-tree-encoding\n":              "without a value",
		"# x\n*.txt text -working-tree-encoding\r\n": "without a value",
		"*.rc working-tree-encoding=UTF-16LE\n":      "in UTF-8",
		"*.txt !working-tree-encoding\n":             "",
	} {
		t.Run(strings.TrimSpace(attributes), func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "1\n", "a.rc": as16("a", true, false)})
			w.restore()
			w.put(".gitattributes", attributes)
			_, err := w.commitTree()
			var refused *RefusedError
			if errors.As(err, &refused) != (want != "") || want != "" && !strings.Contains(refused.Reason, want) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// Text in another encoding is the agent's to mend: the checkout has it in UTF-8.
func TestOtherEncodingsAreRefused(t *testing.T) {
	for name, content := range map[string]string{"a.jp": "\x83\x65", "a.le": as16("a", true, false)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{".gitattributes": "*.jp working-tree-encoding=SHIFT-JIS\n*.le working-tree-encoding=UTF-16LE\n"})
			w.restore()
			w.put(name, content)
			_, err := w.commitTree()
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "in UTF-8") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
