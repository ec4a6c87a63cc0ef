package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Entry is a file of a tree; its mode as git lists it.
type Entry struct{ Mode, OID, Path string }

// The modes of what stands in trees. ModeNone is that of nothing.
const (
	ModeNone    = "000000"
	ModeTree    = "040000"
	ModeSymlink = "120000"
	ModeGitlink = "160000"
)

// Change is a path at which two trees differ; the side on which nothing stands has
// ModeNone and a zero object id.
type Change struct {
	Path     string
	Old, New Entry
}

// List are the files of a tree, by path.
func (r *Reader) List(ctx context.Context, tree string) ([]Entry, error) {
	changes, err := r.Changes(ctx, "", tree)
	entries := make([]Entry, len(changes))
	for i, c := range changes {
		entries[i] = c.New
	}
	return entries, err
}

// Changes are the files in which two trees differ, by path; no tree ("") is empty.
// Nothing is taken for moved.
func (r *Reader) Changes(ctx context.Context, from, to string) ([]Change, error) {
	var all []Change
	for level := []pair{{"", from, to}}; len(level) > 0; {
		trees, err := r.trees(ctx, level)
		if err != nil {
			return nil, err
		}
		var below []pair
		for _, p := range level {
			changes, more := compare(p.path, trees[p.from], trees[p.to])
			all, below = append(all, changes...), append(below, more...)
		}
		level = below
	}
	slices.SortStableFunc(all, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// At is what stands at a path of a tree, a folder too.
func (r *Reader) At(ctx context.Context, tree, at string) (Entry, bool, error) {
	here := Entry{Mode: ModeTree, OID: tree}
	for name := range strings.SplitSeq(at, "/") {
		if here.Mode != ModeTree {
			return Entry{}, false, nil
		}
		trees, err := r.trees(ctx, []pair{{to: here.OID}})
		if err != nil {
			return Entry{}, false, err
		}
		i := slices.IndexFunc(trees[here.OID], func(e Entry) bool { return e.Path == name })
		if i < 0 {
			return Entry{}, false, nil
		}
		here = trees[here.OID][i]
	}
	here.Path = at
	return here, true, nil
}

// pair are two trees that stand at one path; either may be "".
type pair struct{ path, from, to string }

// trees reads each tree of the pairs, by object id.
func (r *Reader) trees(ctx context.Context, pairs []pair) (map[string][]Entry, error) {
	read := map[string][]Entry{"": nil}
	var oids []string
	for _, p := range pairs {
		for _, oid := range []string{p.from, p.to} {
			if _, known := read[oid]; !known {
				read[oid] = nil
				oids = append(oids, oid)
			}
		}
	}
	some := make([]Object, len(oids))
	for i, oid := range oids {
		some[i] = Object{OID: oid, Kind: "tree"}
	}
	return read, r.Read(ctx, some, func(i int, content []byte) (err error) {
		read[oids[i]], err = parse(content, len(oids[i])/2)
		return err
	})
}

// compare says how two trees differ that stand at one path, as far as they tell, and
// which trees below them are to be compared.
func compare(at string, from, to []Entry) (changes []Change, below []pair) {
	names := map[string]*Change{}
	var order []string
	side := func(name string) *Change {
		if names[name] == nil {
			names[name] = &Change{}
			order = append(order, name)
		}
		return names[name]
	}
	for _, e := range from {
		side(e.Path).Old = e
	}
	for _, e := range to {
		side(e.Path).New = e
	}
	for _, name := range order {
		c := *names[name]
		if c.Old == c.New {
			continue
		}
		c.Path = name
		if at != "" {
			c.Path = at + "/" + name
		}
		if p := (pair{c.Path, folder(c.Old), folder(c.New)}); p.from != p.to {
			below = append(below, p)
		}
		if c.Old, c.New = file(c.Path, c.Old, c.New), file(c.Path, c.New, c.Old); c.Old.Mode != c.New.Mode || c.Old.OID != c.New.OID {
			changes = append(changes, c)
		}
	}
	return changes, below
}

// folder is the tree that an entry is, if any.
func folder(e Entry) string {
	if e.Mode == ModeTree {
		return e.OID
	}
	return ""
}

// file is an entry as a side of a change: a folder is nothing there.
func file(at string, e, other Entry) Entry {
	if e.Mode == "" || e.Mode == ModeTree {
		return Entry{Mode: ModeNone, OID: strings.Repeat("0", max(len(e.OID), len(other.OID))), Path: at}
	}
	e.Path = at
	return e
}

// parse reads a tree: for each entry a mode in octal digits, a blank, a name, a zero and
// the bytes of an object id.
func parse(content []byte, size int) ([]Entry, error) {
	var entries []Entry
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		digits, name, ok2 := bytes.Cut(head, []byte{' '})
		mode, err := strconv.ParseUint(string(digits), 8, 32)
		if !ok || !ok2 || err != nil || len(rest) < size || len(name) == 0 {
			return nil, fmt.Errorf("read a tree: %.100q", content)
		}
		entries = append(entries, Entry{Mode: canonical(mode), OID: hex.EncodeToString(rest[:size]), Path: string(name)})
		content = rest[size:]
	}
	return entries, nil
}

// canonical is a mode as git takes it: old trees have others.
func canonical(mode uint64) string {
	switch mode & 0o170000 {
	case 0o040000:
		return ModeTree
	case 0o120000:
		return ModeSymlink
	case 0o100000:
		if mode&0o100 != 0 {
			return "100755"
		}
		return "100644"
	}
	return ModeGitlink
}
