package gate

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/objects"
)

// side is one of the two contents of a change.
type side func(change) (mode, oid string)

func newSide(ch change) (mode, oid string) { return ch.newMode, ch.newOID }
func oldSide(ch change) (mode, oid string) { return ch.oldMode, ch.oldOID }

// blob is one content of a change.
type blob struct {
	change change
	objects.Object
}

// sizes asks for the sizes of the changes' contents on one side.
func sizes(ctx context.Context, q *mirror.Quarantine, changes []change, of side) ([]blob, error) {
	var blobs []blob
	var oids []string
	for _, ch := range changes {
		if mode, oid := of(ch); mode != modeNone && mode != modeGitlink {
			blobs, oids = append(blobs, blob{change: ch}), append(oids, oid)
		}
	}
	found, err := q.Objects().Look(ctx, oids...)
	if err != nil {
		return nil, fmt.Errorf("read sizes: %w", err)
	}
	for i, o := range found {
		if o.Kind != "blob" {
			return nil, fmt.Errorf("read sizes: %q is missing", oids[i])
		}
		blobs[i].Object = o
	}
	return blobs, nil
}

// eachBlob hands the contents over, whole.
func eachBlob(ctx context.Context, q *mirror.Quarantine, blobs []blob, do func(blob, []byte)) error {
	all := make([]objects.Object, len(blobs))
	for i, b := range blobs {
		all[i] = b.Object
	}
	return q.Objects().Read(ctx, all, func(i int, content []byte) error {
		do(blobs[i], content)
		return nil
	})
}

func hadConflict(ctx context.Context, q *mirror.Quarantine, oid string) bool {
	content, err := q.Objects().Content(ctx, objects.Object{OID: oid, Kind: "blob"})
	return err == nil && hasConflict(content)
}
