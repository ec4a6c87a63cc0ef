package tick

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// documents are what an implementation may not consist of alone: a merged
// design asks for more than words.
var documents = []string{"docs/**", "doc/**", "**/*.md", "**/*.mdx", "**/*.markdown", "**/*.rst", "**/*.adoc"}

// limits are what no push of the turn may carry (design §7).
func (p *Pass) limits(l *lease) git.Limits {
	r := l.remote.Settings
	limits := git.Limits{
		MaxFiles: r.MaxFiles, MaxFileBytes: r.MaxFileBytes, Protected: r.ProtectedPaths, Secrets: p.Secrets.Find,
	}
	if l.turn.Kind == work.KindImplementationStart {
		limits.NotOnly = documents
	}
	return limits
}

// refusedChanges tells the agent beforehand what the gates refuse.
func refusedChanges(r config.Repo, kind work.Kind) []string {
	told := []string{
		"a nested repository (any folder with a .git of its own, or with HEAD, objects and refs) or a submodule, new or removed",
		fmt.Sprintf("a file of more than %s, or more than %d changed files", size(r.MaxFileBytes), r.MaxFiles),
		"conflict markers",
		"a path of more than 1000 bytes, or with a name that some system takes for .git",
		"a symbolic link that leads out of the repository, also through another link, and anything that is neither file, folder nor link",
		"a raw file where the repository keeps large files by LFS",
		"a token, a password or a private key, in a file, its name or a link; also one that is made up, if it looks real",
	}
	if len(r.ProtectedPaths) > 0 {
		told = append(told, "a change to "+strings.Join(r.ProtectedPaths, ", "))
	}
	if kind == work.KindImplementationStart {
		told = append(told, "a change to documents alone")
	}
	if len(r.RequiredTests) > 0 && kind != work.KindDesignStart {
		told = append(told, fmt.Sprintf("a change with which the required tests fail: `%s`", strings.Join(r.RequiredTests, " ")))
	}
	if r.TestFiles != nil && kind == work.KindBugfixStart {
		told = append(told, "a bugfix without a test: a path that it changes must match "+r.TestFiles.String())
	}
	return told
}

// size is a number of bytes as people say it.
func size(n int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n >= mib && n%mib == 0:
		return fmt.Sprintf("%d MiB", n/mib)
	case n >= kib && n%kib == 0:
		return fmt.Sprintf("%d KiB", n/kib)
	}
	return fmt.Sprintf("%d bytes", n)
}
