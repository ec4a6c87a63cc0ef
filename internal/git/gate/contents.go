package gate

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// contents judges the new blobs.
func (j *judge) contents(ctx context.Context) error {
	blobs := slices.DeleteFunc(slices.Clone(j.changes), func(ch change) bool { return ch.newMode == modeNone || ch.newMode == modeGitlink })
	lfs, err := j.lfsPaths(ctx, blobs)
	if err != nil {
		return err
	}
	sized, err := sizes(ctx, j.q, blobs, newSide)
	if err != nil {
		return err
	}
	sized = slices.DeleteFunc(sized, func(b blob) bool {
		large := j.Limits.MaxFileBytes > 0 && b.Size > j.Limits.MaxFileBytes
		if large {
			j.refused.add("%q has %d bytes, %d are allowed", b.change.path, b.Size, j.Limits.MaxFileBytes)
		}
		return large
	})
	found := leaks{find: j.Limits.Secrets}
	err = eachBlob(ctx, j.q, sized, func(b blob, content []byte) {
		j.content(ctx, b.change, content, lfs[b.change.path])
		found.look(b.change, content)
	})
	if err != nil {
		return err
	}
	return j.secrets(ctx, found)
}

// content judges one new blob.
func (j *judge) content(ctx context.Context, ch change, content []byte, lfs bool) {
	if ch.newMode == modeSymlink {
		if leaves(ch.path, string(content)) {
			j.refused.add("the link %q leads out of the repository", ch.path)
		}
		return
	}
	if lfs && !isPointer(content) {
		j.refused.add("%q belongs to Git LFS, whose files are not changed", ch.path)
	}
	if hasConflict(content) && (ch.oldMode == modeNone || !hadConflict(ctx, j.q, ch.oldOID)) {
		j.refused.add("%q has conflict markers", ch.path)
	}
}

// lfsPaths are those paths that .gitattributes give to Git LFS.
func (j *judge) lfsPaths(ctx context.Context, blobs []change) (map[string]bool, error) {
	if len(blobs) == 0 {
		return nil, nil
	}
	c := j.q.Call("check-attr", "--cached", "-z", "--stdin", "filter")
	c.Index = j.index
	var in strings.Builder
	for _, ch := range blobs {
		in.WriteString(ch.path + "\x00")
	}
	c.Stdin = []byte(in.String())
	res, err := runPatterns(ctx, c, patternTimeout(j.Mirror))
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
