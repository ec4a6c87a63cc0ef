package git

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// gateContents judges the new blobs.
func (m *Mirror) gateContents(ctx context.Context, l Limits, changes []change, index string, q *quarantine, refused *refusals) error {
	blobs := slices.DeleteFunc(slices.Clone(changes), func(ch change) bool { return ch.newMode == modeNone || ch.newMode == modeGitlink })
	lfs, err := m.lfsPaths(ctx, blobs, index, q)
	if err != nil {
		return err
	}
	sized, err := m.sizes(ctx, blobs, newSide, q)
	if err != nil {
		return err
	}
	sized = slices.DeleteFunc(sized, func(b blob) bool {
		large := l.MaxFileBytes > 0 && b.size > l.MaxFileBytes
		if large {
			refused.add("%q has %d bytes, %d are allowed", b.change.path, b.size, l.MaxFileBytes)
		}
		return large
	})
	found := leaks{find: l.Secrets}
	err = m.eachBlob(ctx, sized, q, func(b blob, content []byte) {
		m.gateContent(ctx, b.change, content, lfs[b.change.path], q, refused)
		found.look(b.change, content)
	})
	if err != nil {
		return err
	}
	return m.gateSecrets(ctx, changes, found, q, refused)
}

// gateContent judges one new blob.
func (m *Mirror) gateContent(ctx context.Context, ch change, content []byte, lfs bool, q *quarantine, refused *refusals) {
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
}

// lfsPaths are those paths that .gitattributes give to Git LFS.
func (m *Mirror) lfsPaths(ctx context.Context, blobs []change, index string, q *quarantine) (map[string]bool, error) {
	if len(blobs) == 0 {
		return nil, nil
	}
	c := q.call("check-attr", "--cached", "-z", "--stdin", "filter")
	c.Index = index
	var in strings.Builder
	for _, ch := range blobs {
		in.WriteString(ch.path + "\x00")
	}
	c.Stdin = []byte(in.String())
	res, err := m.runPatterns(ctx, c)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for f := plumbing.Fields(res.Stdout); len(f) >= 3; f = f[3:] {
		out[f[0]] = f[2] == "lfs"
	}
	return out, nil
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
