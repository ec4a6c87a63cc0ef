package gate

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// side is one of the two contents of a change.
type side func(change) (mode, oid string)

func newSide(ch change) (mode, oid string) { return ch.newMode, ch.newOID }
func oldSide(ch change) (mode, oid string) { return ch.oldMode, ch.oldOID }

// blob is one content of a change.
type blob struct {
	change change
	oid    string
	size   int64
}

// sizes asks for the sizes of the changes' contents on one side.
func sizes(ctx context.Context, q *mirror.Quarantine, changes []change, of side) ([]blob, error) {
	var blobs []blob
	var in strings.Builder
	for _, ch := range changes {
		if mode, oid := of(ch); mode != modeNone && mode != modeGitlink {
			blobs = append(blobs, blob{change: ch, oid: oid})
			in.WriteString(oid + "\n")
		}
	}
	if len(blobs) == 0 {
		return nil, nil
	}
	c := q.Call("cat-file", "--batch-check=%(objectsize)")
	c.Stdin = []byte(in.String())
	out, err := c.Text(ctx)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != len(blobs) {
		return nil, fmt.Errorf("read sizes: %d answers for %d files", len(lines), len(blobs))
	}
	for i, line := range lines {
		if blobs[i].size, err = strconv.ParseInt(line, 10, 64); err != nil {
			return nil, fmt.Errorf("read sizes: %w", err)
		}
	}
	return blobs, nil
}

// How much one command reads: contents whole, a few commands for many.
const (
	blobsAtOnce = 200
	bytesAtOnce = 16 << 20
)

// eachBlob hands the contents over, whole.
func eachBlob(ctx context.Context, q *mirror.Quarantine, blobs []blob, do func(blob, []byte)) error {
	for len(blobs) > 0 {
		n, total := 0, int64(0)
		for n < len(blobs) && n < blobsAtOnce && (n == 0 || total+blobs[n].size <= bytesAtOnce) {
			total += blobs[n].size
			n++
		}
		if err := someBlobs(ctx, q, blobs[:n], do); err != nil {
			return err
		}
		blobs = blobs[n:]
	}
	return nil
}

func someBlobs(ctx context.Context, q *mirror.Quarantine, blobs []blob, do func(blob, []byte)) error {
	var in strings.Builder
	for _, b := range blobs {
		in.WriteString(b.oid + "\n")
	}
	c := q.Call("cat-file", "--batch=%(objectsize)")
	c.Stdin = []byte(in.String())
	res, err := c.Run(ctx)
	if err != nil {
		return err
	}
	rest := res.Stdout
	for _, b := range blobs {
		var content []byte
		if content, rest, err = cutBlob(rest); err != nil {
			return err
		}
		do(b, content)
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

func hadConflict(ctx context.Context, q *mirror.Quarantine, oid string) bool {
	c := q.Call("cat-file", "blob", oid)
	res, err := c.Run(ctx)
	return err == nil && hasConflict(res.Stdout)
}
