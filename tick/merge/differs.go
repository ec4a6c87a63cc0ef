package merge

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// mostNamed is how many paths a sentence names.
const mostNamed = 5

// differs says in what something that landed is not what was approved; empty: in nothing.
func differs(l git.Landing) string {
	if l.Same {
		return ""
	}
	switch l.Why {
	case git.OtherBase:
		return "it does not stand on the base as it was when the merge was asked for"
	case git.OtherHead:
		return "it is a merge of another commit"
	case git.NotMergeable:
		return "the approved commit conflicts with the commit on which it landed, so somebody or something resolved that" + inPaths(l.Paths)
	case git.OtherSeries:
		return "its commits are not those that were approved, one by one" + inPaths(l.Paths)
	}
	return "the files are others than merging the approved commit gives" + inPaths(l.Paths)
}

func inPaths(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	named := make([]string, 0, mostNamed)
	for _, p := range paths[:min(len(paths), mostNamed)] {
		named = append(named, "`"+strings.ReplaceAll(p, "`", "'")+"`")
	}
	text := ": " + strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		text += fmt.Sprintf(" and %s", work.Count(more, "other file"))
	}
	return text
}
