package merge

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// mostNamed is how many names a sentence lists.
const mostNamed = 5

// longestName is the longest name, in characters.
const longestName = 200

// describeMismatch describes how a landed commit differs from the approved one; empty: it does not.
func describeMismatch(l git.Landing) string {
	if l.Same {
		return ""
	}
	switch l.Why {
	case git.OtherBase:
		return "its parent is not the base at the time of the merge request"
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
	return ": " + named(paths, "other file")
}

// named lists untrusted names as code, each on one line and shortened, and counts those beyond
// mostNamed.
func named(names []string, noun string) string {
	some := make([]string, 0, mostNamed)
	for _, n := range names[:min(len(names), mostNamed)] {
		n = strings.Join(strings.Fields(strings.ReplaceAll(n, "`", "'")), " ")
		if r := []rune(n); len(r) > longestName {
			n = string(r[:longestName]) + "…"
		}
		some = append(some, "`"+n+"`")
	}
	text := strings.Join(some, ", ")
	if more := len(names) - len(some); more > 0 {
		text += " and " + work.Count(more, noun)
	}
	return text
}
