package brief

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Documents are what an implementation may not consist of alone: a merged
// design asks for more than words.
var Documents = []string{"docs/**", "doc/**", "**/*.md", "**/*.mdx", "**/*.markdown", "**/*.rst", "**/*.adoc"}

// RefusedChanges tells the agent beforehand what the gates refuse.
func RefusedChanges(r config.Repo, kind work.Kind) []string {
	told := []string{"a token, password or private key in a file or an answer, even made up"}
	if kind.Mode() == work.ModeRead { // we write the file ourselves
		return told
	}
	told = append(told,
		"a submodule or nested repository, also a bare one, new or removed",
		fmt.Sprintf("a file over %s, or more than %d changed files", work.SizeText(r.MaxFileBytes), r.MaxFiles),
		"conflict markers",
		"a link out of the repository, special files",
		"a path over 1000 bytes, or like .git",
		"a raw file in place of LFS",
	)
	if len(r.ProtectedPaths) > 0 {
		told = append(told, "a change to "+strings.Join(r.ProtectedPaths, ", "))
	}
	if kind == work.KindImplementationStart {
		told = append(told, "a change to documents alone")
	}
	if len(r.RequiredTests) > 0 {
		told = append(told, "a change that fails the required tests")
	}
	if r.TestFiles != nil && kind == work.KindBugfixStart {
		told = append(told, "a bugfix without a test: a path that it changes must match "+r.TestFiles.String())
	}
	return told
}
