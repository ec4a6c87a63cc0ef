package githubsim

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// fileDiff is what one file changed between two commits.
type fileDiff struct {
	path, oldPath  string
	status         string // added, removed, modified, renamed, copied, changed
	oid            string
	added, deleted int
	patch          func() string // from the first @@ on; "" for binary files
}

var statusWords = map[byte]string{'A': "added", 'D': "removed", 'M': "modified", 'R': "renamed", 'C': "copied", 'T': "changed"}

// files tells what changed from the commit from to the commit to.
func (g *gitDir) files(from, to string) ([]fileDiff, error) {
	return cached(g, "files "+from+" "+to, func() ([]fileDiff, error) {
		out, err := g.run("diff", "--raw", "--numstat", "-z", "-M", "--no-abbrev", "--no-ext-diff", from, to, "--")
		if err != nil {
			return nil, fmt.Errorf("compare commits: %w", err)
		}
		list := parseRaw(out)
		patches := sync.OnceValue(func() []string { return g.patches(from, to, len(list)) }) // few ask for them
		for i := range list {
			list[i].patch = func() string { return patches()[i] }
		}
		return list, nil
	})
}

// patches are those of the n files that changed between two commits.
func (g *gitDir) patches(from, to string, n int) []string {
	all := make([]string, n)
	text, err := g.run("diff", "-M", "--no-color", "--no-ext-diff", from, to, "--")
	chunks := strings.Split("\n"+text, "\ndiff --git ")[1:]
	if err != nil || len(chunks) != n {
		return all // a file that became a link has two chunks: no patches then
	}
	for i, chunk := range chunks {
		if at := strings.Index(chunk, "\n@@ "); at >= 0 {
			all[i] = chunk[at+1:]
		}
	}
	return all
}

// parseRaw reads the output of diff --raw --numstat -z.
func parseRaw(out string) []fileDiff {
	fields := strings.Split(out, "\x00")
	next := func() string {
		if len(fields) == 0 {
			return ""
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	var list []fileDiff
	for len(fields) > 0 && strings.HasPrefix(fields[0], ":") {
		meta := strings.Fields(next())
		letter := meta[4][0]
		d := fileDiff{status: statusWords[letter], oid: meta[3], path: next()}
		if letter == 'D' {
			d.oid = meta[2]
		}
		if letter == 'R' || letter == 'C' {
			d.oldPath, d.path = d.path, next()
		}
		list = append(list, d)
	}
	for i := range list {
		counts := strings.SplitN(next(), "\t", 3)
		if len(counts) == 3 && counts[2] == "" {
			next() // a rename's two names
			next()
		}
		list[i].added, _ = strconv.Atoi(counts[0]) // "-" for binary files
		if len(counts) > 1 {
			list[i].deleted, _ = strconv.Atoi(counts[1])
		}
	}
	return list
}

// hunk is one hunk's place.
type hunk struct{ oldStart, oldLines, newStart, newLines int }

// parseHunk reads "@@ -a,b +c,d @@ …".
func parseHunk(line string) (hunk, bool) {
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "@@" {
		return hunk{}, false
	}
	pair := func(s string) (int, int) {
		start, count, ok := strings.Cut(s[1:], ",")
		a, _ := strconv.Atoi(start)
		if !ok {
			return a, 1
		}
		b, _ := strconv.Atoi(count)
		return a, b
	}
	var h hunk
	h.oldStart, h.oldLines = pair(f[1])
	h.newStart, h.newLines = pair(f[2])
	return h, true
}

// locate finds a line in a patch: the hunk down to that line, and the position as GitHub counts it
// (the line below the first @@ is 1). side is RIGHT for lines of the new file, LEFT for lines of
// the old one.
func locate(patch, side string, line int) (text string, position int, ok bool) {
	var start, left, right int
	lines := strings.Split(patch, "\n")
	for i, l := range lines {
		if h, isHunk := parseHunk(l); isHunk {
			start, left, right = i, h.oldStart, h.newStart
			continue
		}
		if l == "" || l[0] == '\\' {
			continue
		}
		here := (side == "LEFT" && l[0] != '+' && left == line) || (side != "LEFT" && l[0] != '-' && right == line)
		if here {
			return strings.Join(lines[start:i+1], "\n"), i, true
		}
		if l[0] != '+' {
			left++
		}
		if l[0] != '-' {
			right++
		}
	}
	return "", 0, false
}

// follow tells where a line of a file at one commit is at another one; false when it was changed or
// is gone.
func (g *gitDir) follow(from, to, path string, line int) (int, bool) {
	if from == to {
		return line, true
	}
	hunks, err := cached(g, "hunks "+from+" "+to+" "+path, func() ([]hunk, error) {
		out, err := g.run("diff", "-U0", "--no-color", "--no-ext-diff", "--no-renames", from, to, "--", path)
		if err != nil {
			return nil, err
		}
		var list []hunk
		for l := range strings.SplitSeq(out, "\n") {
			if h, ok := parseHunk(l); ok {
				list = append(list, h)
			}
		}
		return list, nil
	})
	if err != nil {
		return 0, false
	}
	shift := 0
	for _, h := range hunks {
		switch {
		case h.oldLines > 0 && line >= h.oldStart && line < h.oldStart+h.oldLines:
			return 0, false
		case h.oldLines > 0 && line >= h.oldStart+h.oldLines, h.oldLines == 0 && line > h.oldStart:
			shift += h.newLines - h.oldLines
		}
	}
	return line + shift, true
}
