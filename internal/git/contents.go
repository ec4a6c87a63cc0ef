package git

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// inspectBytes is how much of a file the gates read.
const inspectBytes = 1 << 20

// gateContents judges the new blobs.
func (m *Mirror) gateContents(ctx context.Context, l Limits, changes []change, index string, q *quarantine, refused *refusals) error {
	blobs := slices.Clone(changes)
	blobs = slices.DeleteFunc(blobs, func(ch change) bool { return ch.newMode == modeNone || ch.newMode == modeGitlink })
	if len(blobs) == 0 {
		return nil
	}
	lfs, err := m.lfsPaths(ctx, blobs, index, q)
	if err != nil {
		return err
	}
	sizes, err := m.sizes(ctx, blobs, q)
	if err != nil {
		return err
	}
	var readable []change
	for i, ch := range blobs {
		if l.MaxFileBytes > 0 && sizes[i] > l.MaxFileBytes {
			refused.add("%q has %d bytes, %d are allowed", ch.path, sizes[i], l.MaxFileBytes)
			continue
		}
		readable = append(readable, ch)
	}
	return m.eachBlob(ctx, readable, q, func(ch change, content []byte) {
		m.gateContent(ctx, l, ch, content, lfs[ch.path], q, refused)
	})
}

// gateContent judges one new blob.
func (m *Mirror) gateContent(ctx context.Context, l Limits, ch change, content []byte, lfs bool, q *quarantine, refused *refusals) {
	if ch.newMode == modeSymlink {
		if leaves(ch.path, string(content)) {
			refused.add("the link %q leads out of the repository", ch.path)
		}
		return
	}
	if lfs && !isPointer(content) {
		refused.add("%q belongs to Git LFS, whose files are not changed", ch.path)
	}
	if hasConflict(content) && (ch.oldMode == modeNone || !m.hadConflict(ctx, ch.oldOID, q)) {
		refused.add("%q has conflict markers", ch.path)
	}
	if l.Inspect != nil {
		if why := l.Inspect(ch.path, content); why != "" {
			refused.add("%q: %s", ch.path, why)
		}
	}
}

// lfsPaths are those paths that .gitattributes give to Git LFS.
func (m *Mirror) lfsPaths(ctx context.Context, blobs []change, index string, q *quarantine) (map[string]bool, error) {
	c := m.call("check-attr", "--cached", "-z", "--stdin", "filter")
	c.index, c.in = index, q
	var in strings.Builder
	for _, ch := range blobs {
		in.WriteString(ch.path + "\x00")
	}
	c.stdin = []byte(in.String())
	res, err := m.git.run(ctx, c)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for f := fields(res.Stdout); len(f) >= 3; f = f[3:] {
		out[f[0]] = f[2] == "lfs"
	}
	return out, nil
}

func (m *Mirror) sizes(ctx context.Context, blobs []change, q *quarantine) ([]int64, error) {
	c := m.call("cat-file", "--batch-check=%(objectsize)")
	c.in = q
	var in strings.Builder
	for _, ch := range blobs {
		in.WriteString(ch.newOID + "\n")
	}
	c.stdin = []byte(in.String())
	out, err := m.git.text(ctx, c)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != len(blobs) {
		return nil, fmt.Errorf("read sizes: %d answers for %d files", len(lines), len(blobs))
	}
	sizes := make([]int64, len(lines))
	for i, line := range lines {
		if sizes[i], err = strconv.ParseInt(line, 10, 64); err != nil {
			return nil, fmt.Errorf("read sizes: %w", err)
		}
	}
	return sizes, nil
}

// eachBlob hands the contents of new blobs over, each cut at inspectBytes, by
// a few commands for many.
func (m *Mirror) eachBlob(ctx context.Context, blobs []change, q *quarantine, do func(change, []byte)) error {
	const atOnce = 200
	for part := range slices.Chunk(blobs, atOnce) {
		var in strings.Builder
		for _, ch := range part {
			in.WriteString(ch.newOID + "\n")
		}
		c := m.call("cat-file", "--batch=%(objectsize)")
		c.in, c.stdin, c.max = q, []byte(in.String()), atOnce*inspectBytes/4
		res, err := m.git.run(ctx, c)
		if err != nil {
			return err
		}
		rest := res.Stdout
		for _, ch := range part {
			var content []byte
			if content, rest, err = cutBlob(rest); err != nil { // beyond c.max
				if content, err = m.blob(ctx, ch.newOID, q); err != nil {
					return err
				}
				rest = nil
			}
			do(ch, content[:min(len(content), inspectBytes)])
		}
	}
	return nil
}

// cutBlob takes the first blob off the output of cat-file --batch.
func cutBlob(out []byte) (content, rest []byte, err error) {
	head, rest, ok := bytes.Cut(out, []byte("\n"))
	size, err := strconv.Atoi(string(head))
	if !ok || err != nil || len(rest) < size+1 {
		return nil, nil, fmt.Errorf("read blobs: the output ends after %q", head)
	}
	return rest[:size], rest[size+1:], nil
}

// blob is the beginning of a blob.
func (m *Mirror) blob(ctx context.Context, oid string, q *quarantine) ([]byte, error) {
	c := m.call("cat-file", "blob", oid)
	c.in, c.max = q, inspectBytes
	res, err := m.git.run(ctx, c)
	return res.Stdout, err
}

func (m *Mirror) hadConflict(ctx context.Context, oid string, q *quarantine) bool {
	content, err := m.blob(ctx, oid, q)
	return err == nil && hasConflict(content)
}

// leaves reports whether a link at a path, taken by its text, leads out of the
// tree or into .git.
func leaves(at, target string) bool {
	target = filepath.ToSlash(target)
	if path.IsAbs(target) || filepath.VolumeName(target) != "" {
		return true
	}
	to := path.Join(path.Dir(at), target)
	if to == ".." || strings.HasPrefix(to, "../") {
		return true
	}
	return slices.ContainsFunc(strings.Split(to, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

func isPointer(content []byte) bool {
	return len(content) < 1024 && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/v1\n"))
}

// hasConflict reports whether the three kinds of marker stand in their order.
func hasConflict(content []byte) bool {
	stage := 0
	for line := range bytes.Lines(content) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			stage = 1
		case stage == 1 && bytes.Equal(line, []byte("=======")):
			stage = 2
		case stage == 2 && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			return true
		}
	}
	return false
}
