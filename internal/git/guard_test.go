package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Changes to files that agents obey are in the commit but not in the checkout. All other changes
// are in both.
func TestGuard(t *testing.T) {
	for name, tc := range map[string]struct {
		base, head map[string]string // "" removes a file; "-> x" is a link to x
		want       map[string]string
		paths      []string
	}{
		"changed":                {map[string]string{"AGENTS.md": "ours"}, map[string]string{"AGENTS.md": "theirs", "a.txt": "new"}, map[string]string{"AGENTS.md": "ours", "a.txt": "new"}, []string{"AGENTS.md"}},
		"added, deep and spelt":  {map[string]string{}, map[string]string{"x/y/Claude.MD": "theirs", ".claude/settings.json": "{}", "a.txt": "new"}, map[string]string{"a.txt": "new"}, []string{".claude/settings.json", "x/y/Claude.MD"}},
		"taken away":             {map[string]string{".claude/rules": "ours"}, map[string]string{".claude/rules": ""}, map[string]string{".claude/rules": "ours"}, []string{".claude/rules"}},
		"untouched":              {map[string]string{"AGENTS.md": "ours"}, map[string]string{"a.txt": "new"}, map[string]string{"AGENTS.md": "ours", "a.txt": "new"}, nil},
		"a folder in its place":  {map[string]string{"AGENTS.md": "ours"}, map[string]string{"AGENTS.md": "", "AGENTS.md/evil": "theirs"}, map[string]string{"AGENTS.md": "ours"}, []string{"AGENTS.md/evil", "AGENTS.md"}},
		"a file for its folder":  {map[string]string{"x/AGENTS.md": "ours"}, map[string]string{"x/AGENTS.md": "", "x": "theirs"}, map[string]string{"x": "theirs"}, nil},
		"a link":                 {map[string]string{"AGENTS.md": "ours"}, map[string]string{"AGENTS.md": "-> evil", "evil": "theirs"}, map[string]string{"AGENTS.md": "ours", "evil": "theirs"}, []string{"AGENTS.md"}},
		"our link to what is":    {map[string]string{"AGENTS.md": "ours", "CLAUDE.md": "-> AGENTS.md"}, map[string]string{"AGENTS.md": "theirs"}, map[string]string{"AGENTS.md": "ours", "CLAUDE.md": "-> AGENTS.md"}, []string{"AGENTS.md"}},
		"our link to what isn't": {map[string]string{"CLAUDE.md": "-> rules.txt", "rules.txt": "ours"}, map[string]string{"rules.txt": "theirs"}, map[string]string{"CLAUDE.md": "-> rules.txt", "rules.txt": "ours"}, []string{"rules.txt"}},
		"our link out":           {map[string]string{"CLAUDE.md": "-> ../x"}, map[string]string{"b.txt": "new"}, map[string]string{"b.txt": "new"}, []string{"CLAUDE.md"}},
		"our link to a folder":   {map[string]string{".claude/skills": "-> ../skills", "skills/a/SKILL.md": "ours"}, map[string]string{"skills/a/SKILL.md": "theirs", "skills/b/SKILL.md": "theirs"}, map[string]string{".claude/skills": "-> ../skills", "skills/a/SKILL.md": "ours"}, []string{"skills/a/SKILL.md", "skills/b/SKILL.md"}},
		"a link for its folder":  {map[string]string{".github/agents/a.md": "ours", ".github/x": "x"}, map[string]string{".github/agents/a.md": "", ".github/x": "", ".github": "-> evil", "evil/agents/a.md": "theirs"}, map[string]string{".github/agents/a.md": "ours", "evil/agents/a.md": "theirs"}, []string{".github", ".github/agents/a.md"}},
		"imported":               {map[string]string{"CLAUDE.md": "See @docs/rules.md, and @docs/new.md.", "docs/rules.md": "@more.md", "docs/more.md": "ours"}, map[string]string{"docs/rules.md": "theirs", "docs/more.md": "theirs", "docs/new.md": "theirs", "docs/b.md": "new"}, map[string]string{"CLAUDE.md": "See @docs/rules.md, and @docs/new.md.", "docs/rules.md": "@more.md", "docs/more.md": "ours", "docs/b.md": "new"}, []string{"docs/more.md", "docs/new.md", "docs/rules.md"}},
		"imported through links": {map[string]string{"AGENTS.md": "@d/rules.md", "d": "-> docs", "docs/rules.md": "ours"}, map[string]string{"d": "-> evil", "evil/rules.md": "theirs", "docs/rules.md": "theirs"}, map[string]string{"AGENTS.md": "@d/rules.md", "d": "-> docs", "docs/rules.md": "ours", "evil/rules.md": "theirs"}, []string{"d", "docs/rules.md"}},
		"a link to the imported": {map[string]string{"AGENTS.md": "@d/rules.md", "d/rules.md": "ours"}, map[string]string{"d/rules.md": "", "d": "-> evil", "evil/rules.md": "theirs"}, map[string]string{"AGENTS.md": "@d/rules.md", "d/rules.md": "ours", "evil/rules.md": "theirs"}, []string{"d", "d/rules.md"}},
		"a link to what is not":  {map[string]string{"AGENTS.md": "@d/local.md and @e/my\\ own.md and @f.md#top", "e/my own.md": "ours", "f.md": "ours"}, map[string]string{"d": "-> evil", "evil/local.md": "theirs", "e/my own.md": "theirs", "f.md": "theirs"}, map[string]string{"AGENTS.md": "@d/local.md and @e/my\\ own.md and @f.md#top", "evil/local.md": "theirs", "e/my own.md": "ours", "f.md": "ours"}, []string{"d", "e/my own.md", "f.md"}},
		"named by settings":      {map[string]string{".claude/settings.json": `{"command": "$CLAUDE_PROJECT_DIR/tools/hook.sh -x"}`, "tools/hook.sh": "ours"}, map[string]string{"tools/hook.sh": "theirs", "tools/b.sh": "new"}, map[string]string{".claude/settings.json": `{"command": "$CLAUDE_PROJECT_DIR/tools/hook.sh -x"}`, "tools/hook.sh": "ours", "tools/b.sh": "new"}, []string{"tools/hook.sh"}},
		"words that are folders": {map[string]string{".claude/settings.json": `{"allow": ["Bash(./src/*)"]}`, "CLAUDE.md": "@types/node, @ann", "src/a.go": "ours", "types/node/a.ts": "ours"}, map[string]string{"src/a.go": "new", "types/node/a.ts": "new", "ann": "theirs"}, map[string]string{".claude/settings.json": `{"allow": ["Bash(./src/*)"]}`, "CLAUDE.md": "@types/node, @ann", "src/a.go": "new", "types/node/a.ts": "new"}, []string{"ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "old"})
			base := w.putAll(tc.base)
			head := w.putAll(tc.head)
			w.fetch()
			g, err := w.mirror.Guard(t.Context(), head, base)
			w.check(err)
			if !slices.Equal(g.Paths, tc.paths) {
				t.Errorf("differ: %q, want %q", g.Paths, tc.paths)
			}
			changed, err := w.mirror.ChangedFiles(t.Context(), base, head)
			w.check(err)
			obeyed, err := w.mirror.Obeyed(t.Context(), base, changed)
			w.check(err)
			want := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return !slices.Contains(tc.paths, path) })
			if name == "a file for its folder" { // which leaves no place for it
				want = append(want, "x/AGENTS.md")
			}
			if !slices.Equal(obeyed, want) {
				t.Errorf("agents obey %q of %q, want %q", obeyed, changed, want)
			}
			r := w.wanted()
			r.Commit, r.Guarded = head, g
			w.check(w.mirror.Restore(t.Context(), r))
			if _, kept := tc.want["a.txt"]; !kept {
				tc.want["a.txt"] = "old"
			}
			got := contents(t, w.dir)
			for path, text := range tc.want {
				if got[filepath.FromSlash(path)] != text {
					t.Errorf("%s holds %q, want %q", path, got[filepath.FromSlash(path)], text)
				}
			}
			for path := range got {
				if _, ok := tc.want[filepath.ToSlash(path)]; !ok && !strings.HasSuffix(path, "/") {
					t.Errorf("%s is there", path)
				}
			}
			if at := w.cmd(w.dir, "rev-parse", "HEAD"); at != head {
				t.Errorf("the agent stands on %s, want %s", at, head)
			}
		})
	}
}

// putAll commits files on main and pushes: "" removes one, "-> x" is a link to x.
func (w *world) putAll(files map[string]string) string {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(w.person, filepath.FromSlash(name))
		if text == "" {
			w.check(os.RemoveAll(path))
			_ = os.Remove(filepath.Dir(path)) // if it is empty now
		}
	}
	for name, text := range files {
		path := filepath.Join(w.person, filepath.FromSlash(name))
		if to, link := strings.CutPrefix(text, "-> "); link {
			_ = os.Remove(path)
			w.check(os.MkdirAll(filepath.Dir(path), 0o700))
			w.check(os.Symlink(to, path))
		} else if text != "" {
			w.write(path, text)
		}
	}
	return w.commit("change", nil)
}

// Ignored files that an earlier turn left, or a set-up made, do not instruct a reviewer either, where
// programs look for them by themselves or because a file of the base imports them. The author's next
// checkout has the commit's own files again.
func TestAGuardedCheckoutKeepsNoIgnoredFileThatAgentsObey(t *testing.T) {
	w := newWorld(t, map[string]string{".gitignore": "*.local.md\n.codex\ncache\nlocal\nlinked\n", "AGENTS.md": "ours @local/rules.md @Linked/rules.md"})
	base := w.putAll(map[string]string{".claude/skills": "-> ../local/skills"})
	head := w.putAll(map[string]string{"AGENTS.md": "theirs"})
	w.fetch()
	g, err := w.mirror.Guard(t.Context(), head, base)
	w.check(err)
	r := w.wanted()
	r.Commit, r.Ignored = head, KeepIgnored
	left := []string{"CLAUDE.local.md", "sub/CLAUDE.local.md", ".codex/config.toml", "local/rules.md", "local/skills/a/SKILL.md", "linked"}
	for _, guarded := range []Guarded{{}, g, {}} {
		tree := guarded.Tree
		r.Guarded = guarded
		w.check(w.mirror.Restore(t.Context(), r))
		got := contents(t, w.dir)
		want := map[string]string{"AGENTS.md": "theirs"}
		if tree != "" {
			want = map[string]string{"AGENTS.md": "ours @local/rules.md @Linked/rules.md", "cache/a": "kept", "local/b": "kept"}
		}
		for path, text := range want {
			if got[path] != text {
				t.Errorf("tree %q: %s holds %q, want %q", tree, path, got[path], text)
			}
		}
		for path := range got {
			if tree != "" && slices.Contains(left, filepath.ToSlash(path)) {
				t.Errorf("tree %q: %s is there", tree, path)
			}
		}
		for _, path := range append([]string{"cache/a", "local/b"}, left...) {
			if at := filepath.Join(w.dir, filepath.FromSlash(path)); path != "linked" {
				w.write(at, "kept")
			} else if err := os.Symlink("cache", at); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
	}
}

func TestGuardMissesACommit(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	var missing *MissingError
	if _, err := w.mirror.Guard(t.Context(), w.main(), strings.Repeat("a", 40)); !errors.As(err, &missing) {
		t.Errorf("err = %v", err)
	}
}

// The head of a pull request is fetched from the host's ref and kept.
func TestFetchPull(t *testing.T) {
	w := newWorld(t, tree)
	w.fetch()
	if oid, ok, err := w.mirror.FetchPull(t.Context(), 7, key1); ok || err != nil {
		t.Fatalf("there is none, and it gave %q, %v", oid, err)
	}
	var heads []string
	for _, message := range []string{"first", "second"} {
		oid := w.cmd(w.person, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", message)
		w.cmd(w.person, "push", "-q", "-f", "origin", oid+":refs/pull/7/head")
		got, ok, err := w.mirror.FetchPull(t.Context(), 7, key1)
		if err != nil || !ok || got != oid {
			t.Fatalf("got %q %v %v, want %s", got, ok, err, oid)
		}
		heads = append(heads, oid)
	}
	if got, ok := w.kept(key1); !ok || got != heads[1] {
		t.Errorf("kept: %q", got)
	}
	w.fetch() // does not prune our refs
	if _, ok := w.kept(key1); !ok {
		t.Error("it was pruned")
	}
	if _, _, err := w.mirror.FetchPull(t.Context(), 7, "../x"); err == nil {
		t.Error("took a path for a key")
	}
	w.mirror = w.mirrorOf(filepath.Join(w.root, "nowhere.git"))
	if _, _, err := w.mirror.FetchPull(t.Context(), 7, key1); err == nil {
		t.Error("no remote is no error")
	}
}
