package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Diff is the difference of two commits as people read it, with three lines around each
// change, as GitHub has them. Nothing of the repository's own is run or believed for
// it: no program, no attribute that would hide a file. Of a long one there are the
// whole lines among its first most bytes, and cut is true.
func (m *Mirror) Diff(ctx context.Context, from, to string, most int64) (text string, cut bool, err error) {
	for _, oid := range []string{from, to} {
		if !m.Has(ctx, oid) {
			return "", false, fmt.Errorf("compare: %w", &MissingError{OID: oid})
		}
	}
	c := m.command("diff-tree", "-r", "-p", "-U3", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", from, to)
	c.Config, c.Env, c.Most = []string{"core.quotePath=false"}, []string{"GIT_ATTR_NOSYSTEM=1"}, most
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("compare: %w", err)
	}
	out := res.Stdout
	if res.Truncated {
		out = out[:bytes.LastIndexByte(out, '\n')+1]
	}
	return strings.ToValidUTF8(string(out), "\ufffd"), res.Truncated, nil
}

// Change is what a commit in a mirror changed, against its first parent, as Diff has it.
func Change(ctx context.Context, m *Mirror, oid string, most int64) (text string, cut bool, err error) {
	c, err := m.readCommit(ctx, oid)
	if err != nil {
		return "", false, fmt.Errorf("read commit: %w", err)
	}
	if len(c.parents) == 0 {
		return "", false, fmt.Errorf("commit %s is the first of its repository", oid)
	}
	return m.Diff(ctx, c.parents[0], oid, most)
}

// Lines are the lines of files that a difference shows, as they are numbered after it:
// those to which GitHub takes a comment.
type Lines map[string][]Span

// Span are the lines from First to Last.
type Span struct{ First, Last int }

// Has reports whether the difference shows a line of a file.
func (l Lines) Has(path string, line int) bool {
	for _, s := range l[path] {
		if s.First <= line && line <= s.Last {
			return true
		}
	}
	return false
}

// maxDiff bounds the difference in which lines are looked for; a comment on a line
// behind that is as one on a line that is not in it.
const maxDiff = 32 << 20

// DiffLines are the lines that the difference of two commits shows.
func (m *Mirror) DiffLines(ctx context.Context, from, to string) (Lines, error) {
	text, _, err := m.Diff(ctx, from, to, maxDiff)
	return linesOf(text), err
}

// linesOf reads the lines from a difference. What stands in a file may look like a
// heading: the lines of each part are counted.
func linesOf(diff string) Lines {
	all := Lines{}
	path, before, after := "", 0, 0 // lines of the part that are still to come, on either side
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if before > 0 || after > 0 {
			switch {
			case strings.HasPrefix(line, "-"):
				before--
			case strings.HasPrefix(line, "+"):
				after--
			case !strings.HasPrefix(line, `\`):
				before, after = before-1, after-1
			}
			continue
		}
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			path = pathOf(name)
		}
		if first, old, now, ok := partOf(line); ok {
			before, after = old, now
			if path != "" && now > 0 {
				all[path] = append(all[path], Span{first, first + now - 1})
			}
		}
	}
	return all
}

// pathOf is the path that a heading names; empty where the file is gone.
func pathOf(name string) string {
	name = strings.TrimSuffix(name, "\t") // git adds one to a name with blanks
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		name = plain
	}
	path, ok := strings.CutPrefix(name, "b/")
	if !ok {
		return ""
	}
	return path
}

// partOf reads the heading of a part, such as "@@ -3,7 +3,8 @@ func main() {": where it
// begins after the change, and how many lines it has before and after.
func partOf(line string) (first, before, after int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" {
		return 0, 0, 0, false
	}
	_, before, old := rangeOf(fields[1], "-")
	first, after, now := rangeOf(fields[2], "+")
	return first, before, after, old && now
}

func rangeOf(field, sign string) (first, count int, ok bool) {
	field, ok = strings.CutPrefix(field, sign)
	start, length, counted := strings.Cut(field, ",")
	first, err := strconv.Atoi(start)
	count = 1
	if err == nil && counted {
		count, err = strconv.Atoi(length)
	}
	return first, count, ok && err == nil
}

// SameChange reports whether a branch changes the same as before against its base: all
// that came to it since is a merge of its base, as git makes it where nothing
// conflicts. before and after are its heads.
func (m *Mirror) SameChange(ctx context.Context, base, before, after string) (bool, error) {
	kept, err := m.IsAncestor(ctx, before, after)
	if err != nil || !kept {
		return before == after, err
	}
	merged, ok, err := m.MergeBase(ctx, base, after)
	if err != nil || !ok {
		return before == after, err
	}
	made, err := m.Merge(ctx, before, merged)
	if err != nil || !made.Clean() {
		return false, err
	}
	tree, err := m.treeOf(ctx, after)
	return tree == made.Tree, err
}
