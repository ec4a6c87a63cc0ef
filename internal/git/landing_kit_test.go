package git

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// host runs git in the person's clone as the host that merges, with its own name and a later date.
func (w *world) host(args ...string) (string, error) {
	return w.tryWith([]string{
		"GIT_AUTHOR_DATE=@1700009999 +0000", "GIT_COMMITTER_NAME=Host", "GIT_COMMITTER_EMAIL=noreply@host", "GIT_COMMITTER_DATE=@1700009999 +0000",
		"GIT_EDITOR=true",
	}, w.person, args...)
}

// hosted is host for commands that must succeed.
func (w *world) hosted(args ...string) string {
	w.t.Helper()
	out, err := w.host(args...)
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// at checks out a commit on a branch of this name.
func (w *world) at(branch, commit string) {
	w.t.Helper()
	w.cmd(w.person, "checkout", "-q", "-f", "-B", branch, commit)
}

// head returns the person's HEAD.
func (w *world) head() string {
	w.t.Helper()
	return w.cmd(w.person, "rev-parse", "HEAD")
}

// treeOf returns the tree of a commit in the person's clone.
func (w *world) treeOf(commit string) string {
	w.t.Helper()
	return w.cmd(w.person, "rev-parse", commit+"^{tree}")
}

// publish pushes all branches of the person, and the mirror fetches them.
func (w *world) publish() {
	w.t.Helper()
	w.cmd(w.person, "push", "-q", "-f", "origin", "--all")
	w.fetch()
}

// fork is a base and a head with a common ancestor.
type fork struct{ base, head string }

const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// forked makes a world with a text of nine lines, a binary file and a folder. base and head make
// the two commits.
func forked(t *testing.T, base, head func(w *world)) (*world, fork) {
	t.Helper()
	w := newWorld(t, map[string]string{"text": lines, "bin": "\x00\x01" + lines, "dir/b.txt": "b\n", "c.txt": "c\n"})
	first := w.head()
	w.at("main", first)
	base(w)
	w.at("topic", first)
	head(w)
	f := fork{w.cmd(w.person, "rev-parse", "main"), w.head()}
	w.publish()
	return w, f
}

// squash lands the head on the base as one commit and returns it.
func (w *world) squash(f fork, message string) string {
	w.t.Helper()
	w.at("main", f.base)
	w.hosted("merge", "-q", "--squash", f.head)
	w.hosted("commit", "-q", "--allow-empty", "-m", message)
	return w.head()
}

func (w *world) merge(f fork, message string) string {
	w.t.Helper()
	w.at("main", f.base)
	w.hosted("merge", "-q", "--no-ff", "-m", message, f.head)
	return w.head()
}

func (w *world) rebase(f fork) string {
	w.t.Helper()
	w.at("rebased", f.head)
	w.hosted("rebase", "-q", "--force-rebase", f.base)
	landed := w.head()
	w.at("main", landed)
	w.cmd(w.person, "branch", "-q", "-D", "rebased")
	return landed
}

func change(message string, files map[string]string) func(*world) {
	return func(w *world) { w.commit(message, files) }
}

func doing(steps ...func(*world)) func(*world) {
	return func(w *world) {
		for _, step := range steps {
			step(w)
		}
	}
}

// line returns the text with one line changed.
func line(n int, to string) map[string]string {
	all := strings.Split(lines, "\n")
	all[n-1] = to
	return map[string]string{"text": strings.Join(all, "\n")}
}

// forks returns pairs that merge without conflict, by name.
func forks() map[string][2]func(*world) {
	return map[string][2]func(*world){
		"one commit":        {change("base", map[string]string{"other": "x"}), change("one", map[string]string{"c.txt": "ours\n"})},
		"the base is where": {func(*world) {}, doing(change("one", line(1, "ours")), change("two", line(9, "ours")))},
		"the same file":     {change("base", line(1, "theirs")), doing(change("one", line(5, "ours")), change("two", line(9, "ours")))},
		"a file renamed on the base": {
			func(w *world) { w.cmd(w.person, "mv", "text", "moved"); w.commit("base", nil) },
			doing(change("one", line(5, "ours")), change("two", map[string]string{"new": "n"})),
		},
		"a folder renamed in the head": {
			change("base", map[string]string{"dir/b.txt": "b\nmore\n"}),
			func(w *world) { w.cmd(w.person, "mv", "dir", "folder"); w.commit("one", nil) },
		},
		"a binary file": {change("base", line(1, "theirs")), change("one", map[string]string{"bin": "\x00\x02"})},
		"a file deleted, a link, a mode": {
			change("base", line(1, "theirs")),
			func(w *world) {
				w.cmd(w.person, "rm", "-q", "c.txt")
				w.check(os.Symlink("text", filepath.Join(w.person, "link")))
				w.check(os.Chmod(filepath.Join(w.person, "dir", "b.txt"), 0o755))
				w.commit("one", nil)
			},
		},
		"empty commits": {
			change("base", line(1, "theirs")),
			doing(change("nothing", nil), change("one", line(5, "ours")), change("nothing again", nil)),
		},
		"nothing but an empty commit": {change("base", line(1, "theirs")), change("nothing", nil)},
		"the base merged into the head": {
			change("base", line(1, "theirs")),
			func(w *world) {
				w.commit("one", line(5, "ours"))
				w.cmd(w.person, "merge", "-q", "-m", "update", "main")
				w.commit("two", map[string]string{"new": "n"})
			},
		},
		"a branch merged into the head": {
			change("base", line(1, "theirs")),
			func(w *world) {
				from := w.commit("one", line(5, "ours"))
				w.at("side", from)
				w.commit("aside", map[string]string{"side": "s"})
				w.at("topic", from)
				w.commit("two", line(9, "ours"))
				w.cmd(w.person, "merge", "-q", "-m", "bring it", "side")
			},
		},
		"a commit that the base has, too": {
			change("base", line(5, "ours")),
			doing(change("one", line(5, "ours")), change("two", map[string]string{"new": "n"})),
		},
		"odd names": {
			change("base", line(1, "theirs")),
			change("one", map[string]string{"ä ö\tü": "x", "-f": "y", "\"q\"": "z"}),
		},
	}
}

func eachFork(t *testing.T, do func(t *testing.T, w *world, f fork)) {
	t.Helper()
	all := forks()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !testhome.Long() && !slices.Contains([]string{"empty commits", "the base merged into the head"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, f := forked(t, all[name][0], all[name][1])
			do(t, w, f)
		})
	}
}
