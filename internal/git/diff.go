package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Diff returns the difference of two commits with three lines of context, as GitHub shows it. It
// runs no program of the repository and ignores attributes that would hide a file. A longer
// difference is cut to the whole lines within its first most bytes, and cut is true.
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

// DiffOfCommit returns the difference of a commit to its first parent, as Diff does.
func DiffOfCommit(ctx context.Context, m *Mirror, oid string, most int64) (text string, cut bool, err error) {
	c, err := m.readCommit(ctx, oid)
	if err != nil {
		return "", false, fmt.Errorf("read commit: %w", err)
	}
	if len(c.parents) == 0 {
		return "", false, fmt.Errorf("commit %s is the first of its repository", oid)
	}
	return m.Diff(ctx, c.parents[0], oid, most)
}

// Lines has the lines of files that a difference shows, with their numbers after the change: GitHub
// accepts comments on these.
type Lines map[string][]Span

// Span is the range of lines from First to Last, inclusive.
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

// maxDiff limits the bytes in which DiffLines looks. Lines behind the limit count as not shown.
const maxDiff = 32 << 20

// DiffLines returns the lines that the difference of two commits shows.
func (m *Mirror) DiffLines(ctx context.Context, from, to string) (Lines, error) {
	text, _, err := m.Diff(ctx, from, to, maxDiff)
	return linesOf(text), err
}

// linesOf parses a difference. It counts the lines of each hunk, because a file's content may look
// like a header.
func linesOf(diff string) Lines {
	all := Lines{}
	path, before, after := "", 0, 0 // lines of the hunk still to come on each side
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

// pathOf returns the path in a "+++" header, "" for a deleted file.
func pathOf(name string) string {
	name = strings.TrimSuffix(name, "\t") // git appends a tab to a name with blanks
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		name = plain
	}
	path, ok := strings.CutPrefix(name, "b/")
	if !ok {
		return ""
	}
	return path
}

// partOf parses a hunk header such as "@@ -3,7 +3,8 @@ func main() {": its first line after the
// change and its line counts before and after.
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
