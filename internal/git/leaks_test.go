package git

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var key = regexp.MustCompile(`KEY-[0-9]{4}`)

// findKeys finds made-up secrets.
func findKeys(text string) map[string]string {
	found := map[string]string{}
	for _, m := range key.FindAllString(text, -1) {
		found[m] = "a key"
	}
	return found
}

// A secret is found wherever the change adds it; the reason does not contain it.
func TestSecretsAreRefusedWhereverTheyAre(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world)
		want []string
	}{
		{"in a file", func(w *world) { w.put("a.txt", "a\nKEY-1234\n") }, []string{`"a.txt" contains a key`}},
		{"behind the first MiB", func(w *world) { w.put("big", repeat("x", 3<<20)+"KEY-1234") }, []string{`"big" contains a key`}},
		{"in the target of a link", func(w *world) { w.check(os.Symlink("KEY-1234", filepath.Join(w.dir, "l"))) }, []string{`the link "l" contains a key`}},
		{"in a name", func(w *world) { w.put("KEY-1234.txt", "x") }, []string{"the name of a file contains a key"}},
		{"in a folder's name, and in the file", func(w *world) { w.put("KEY-1234/x", "KEY-5678") }, []string{"the name of a file contains a key", "the content of a file contains a key"}},
		{"another one in a file that had one", func(w *world) { w.put("fixture.txt", "KEY-0000\nKEY-1234\n") }, []string{`"fixture.txt" contains a key`}},
		{"in one of many files", func(w *world) {
			for i := range 300 {
				w.put("many/"+strings.Repeat("f", i%7+1)+string(rune('a'+i%26))+strings.Repeat("g", i/7), "x")
			}
			w.put("many/zz", "KEY-1234")
		}, []string{`"many/zz" contains a key`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "a\n", "fixture.txt": "KEY-0000\n"})
			w.restore()
			before := w.objects()
			c.do(w)
			got := w.refusedFor(Limits{Secrets: findKeys})
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("reason = %q, want %q", got, want)
				}
			}
			if strings.Contains(got, "KEY-") {
				t.Errorf("the reason repeats the secret: %q", got)
			}
			if after := w.objects(); after != before {
				t.Errorf("refused objects left the quarantine: %s, then %s", before, after)
			}
		})
	}
}

// Secrets that were there before are allowed: a fixture may be edited, moved, copied and removed.
func TestOnlyWhatAChangeAddsCounts(t *testing.T) {
	w := newWorld(t, map[string]string{"fixture.txt": "token = KEY-0000\n", "KEY-1111.txt": "x\n", "old.txt": "KEY-2222\n"})
	w.restore()
	w.put("fixture.txt", "token = KEY-0000\none more line\n")
	w.put("moved.txt", "KEY-2222\nagain KEY-0000\n")
	w.check(os.Remove(filepath.Join(w.dir, "old.txt")))
	w.put("KEY-1111.txt", "y\n")
	c := w.change()
	c.Limits = Limits{Secrets: findKeys}
	if _, err := w.mirror.CommitTree(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// A secret counts as added if no changed path contained it before, even if it is elsewhere in the
// repository.
func TestACopyOfAFixtureIsNews(t *testing.T) {
	w := newWorld(t, map[string]string{"fixture.txt": "KEY-0000\n"})
	w.restore()
	w.put("copy.txt", "KEY-0000\n")
	if got := w.refusedFor(Limits{Secrets: findKeys}); !strings.Contains(got, `"copy.txt" contains a key`) {
		t.Errorf("reason = %q", got)
	}
}

// In a merge, secrets from the other parent are allowed, too.
func TestWhatAMergeBringsIsNoNews(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n"})
	base := w.restore()
	theirs := w.commit("theirs", map[string]string{"a.txt": "1\n2\n3\n4\nKEY-0000\n"})
	w.fetch()
	w.put("a.txt", "ours\n2\n3\n4\nKEY-0000\n")
	c := w.change()
	c.Parents, c.Limits = []string{base, theirs}, Limits{Secrets: findKeys}
	if _, err := w.mirror.CommitTree(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// An implementation that changes only documents is refused; one other file suffices.
func TestNotOnlyDocuments(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "docs/design/1.md": "d\n"})
	w.restore()
	w.put("docs/design/1.md", "more\n")
	docs := Limits{NotOnly: []string{"docs/**", "**/*.md"}}
	if got := w.refusedFor(docs); !strings.Contains(got, "nothing but documents is changed") {
		t.Errorf("reason = %q", got)
	}
	w.put("a.txt", "b\n")
	c := w.change()
	c.Limits = docs
	if _, err := w.mirror.CommitTree(t.Context(), c); err != nil {
		t.Error(err)
	}
}
