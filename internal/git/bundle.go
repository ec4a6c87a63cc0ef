package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// BundleError means that a bundle is damaged, or that it is not the one of a turn's commit. Nothing of
// it was added to the mirror.
type BundleError struct{ Why string }

func (e *BundleError) Error() string { return "the bundle cannot be used: " + e.Why }

// Bundle returns the commit that the mirror keeps for a turn as a git bundle, for the mirror of
// another machine. It has what the commit adds to its parents, which are on the remote. ok is false
// if that is more than most bytes.
func (m *Mirror) Bundle(ctx context.Context, key string, most int64) (bundle []byte, ok bool, err error) {
	commit, kept, err := m.turnRefOID(ctx, key, turnRef)
	if err == nil && !kept {
		err = fmt.Errorf("%s is missing", turnRef(key))
	}
	var c commitObject
	if err == nil {
		c, err = m.objects.Commit(ctx, commit)
	}
	if err != nil {
		return nil, false, fmt.Errorf("bundle a turn: %w", err)
	}
	create := m.command(append([]string{"bundle", "create", "--quiet", "-", turnRef(key), "--not"}, c.Parents...)...)
	create.Most = most
	res, err := create.Run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("bundle a turn: %w", err)
	}
	return res.Stdout, !res.Truncated, nil
}

// Unbundle adds a turn's commit to the mirror from its bundle, and keeps it as KeepTurn does. Parents
// that the mirror lacks are fetched first; one that the remote lacks too is a *MissingError. A bundle
// of another turn or commit, or with a broken or missing object, is a *BundleError.
func (m *Mirror) Unbundle(ctx context.Context, key, commit string, bundle []byte) error {
	err := checkKey(key)
	if err == nil {
		err = m.unbundle(ctx, key, commit, bundle)
	}
	if err != nil {
		return fmt.Errorf("read the bundle of turn %s: %w", key, err)
	}
	return m.KeepTurn(ctx, key, commit)
}

func (m *Mirror) unbundle(ctx context.Context, key, commit string, bundle []byte) error {
	b, err := parseBundle(bundle)
	if err != nil {
		return err
	}
	if want := (refAt{turnRef(key), commit}); b.tip != want {
		return &BundleError{Why: fmt.Sprintf("it has %s at %s, not %s at %s", b.tip.ref, b.tip.oid, want.ref, want.oid)}
	}
	if lacks := slices.DeleteFunc(slices.Clone(b.parents), func(oid string) bool { return m.Has(ctx, oid) }); len(lacks) > 0 {
		if err := m.Fetch(ctx, lacks...); err != nil {
			return err
		}
	}
	return m.inQuarantine(ctx, "bundle "+key, func(q *quarantine) error {
		c := q.command("index-pack", "--stdin", "--fix-thin", "--strict") // strict: no broken object, and none that refers to a missing one
		c.Stdin = b.pack
		_, err := c.Run(ctx)
		if failed, ok := errors.AsType[*CommandError](err); ok {
			return &BundleError{Why: failed.gist(3)}
		}
		if err != nil {
			return err
		}
		found, err := q.reader.resolve(ctx, commit+"^{commit}")
		if err != nil {
			return err
		}
		if !found[0].found() {
			return &BundleError{Why: fmt.Sprintf("commit %s is not in it", commit)}
		}
		return nil
	})
}

// bundleFile is a bundle as git wrote it: with one ref, and the commits that it builds on.
type bundleFile struct {
	tip     refAt
	parents []string
	pack    []byte
}

// parseBundle parses the lines before the pack: "# v2 git bundle", "-<oid> <subject>" for each commit
// that it builds on, "<oid> <ref>", and an empty one.
func parseBundle(content []byte) (b bundleFile, err error) {
	bad := &BundleError{Why: "it does not begin as a bundle of one ref does"}
	head, pack, ok := bytes.Cut(content, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) > 2+mostParents || lines[0] != "# v2 git bundle" {
		return b, bad
	}
	for _, line := range lines[1:] {
		name, rest, _ := strings.Cut(line, " ")
		oid, builtOn := strings.CutPrefix(name, "-")
		switch {
		case !validOID(oid), !builtOn && b.tip.oid != "":
			return b, bad
		case builtOn:
			b.parents = append(b.parents, oid)
		default:
			b.tip = refAt{rest, oid}
		}
	}
	b.pack = pack
	return b, nil
}

// mostParents is how many parents a turn's commit has at most: the head, and the base that it merges.
const mostParents = 2
