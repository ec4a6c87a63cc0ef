package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// storeAsAdd replaces the changed files of an index by what "git add" would store by the index's
// own .gitattributes: line endings, working-tree-encoding and ident. Filters do not run. A checkout
// has files as they are stored, so only what an agent wrote differs. q.Dir serves as a repository
// without info/attributes, which override .gitattributes in the mirror.
func (m *Mirror) storeAsAdd(ctx context.Context, c Commit, index string, changed []string, q *quarantine) error {
	odd := oddFiles(c.Dir, changed)
	if len(odd) == 0 {
		return nil
	}
	attributes, err := q.attributes(ctx, index, odd)
	if err != nil {
		return err
	}
	entries, err := m.checkoutCommand(c.Dir, index, "ls-files", "--stage", "-z").fields(ctx)
	if err != nil {
		return err
	}
	var refused refusals
	var differ []treeEntry
	var paths strings.Builder // of the files with what is stored
	have, _ := readIndex(prefixed("H ", entries))
	for _, e := range have {
		attr, asked := attributes[e.Path]
		if !asked || !strings.HasPrefix(e.Mode, "100") {
			continue
		}
		content, err := q.reader.content(ctx, object{OID: e.OID, Kind: "blob"})
		if err != nil {
			return err
		}
		before, err := m.storedBefore(ctx, c, e.Path)
		if err != nil {
			return err
		}
		stored, err := attr.stored(content, before)
		switch {
		case err != nil:
			refused.add("%q %s", e.Path, err)
			continue
		case bytes.Equal(stored, content):
			continue
		}
		at := filepath.Join(q.Dir, fmt.Sprintf("stored-%d", len(differ)))
		if err := os.WriteFile(at, stored, 0o600); err != nil {
			return err
		}
		differ = append(differ, e)
		paths.WriteString(at + "\n")
	}
	if err := refused.err(); err != nil || len(differ) == 0 {
		return err
	}
	return q.replace(ctx, index, differ, paths.String())
}

// replace gives entries of an index the contents of files, whose paths are lines.
func (q *quarantine) replace(ctx context.Context, index string, entries []treeEntry, paths string) error {
	hash := q.command("hash-object", "-w", "--no-filters", "--stdin-paths")
	hash.Stdin = []byte(paths)
	oids, err := hash.text(ctx)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for i, oid := range strings.Fields(oids) {
		entries[i].OID = oid
		lines.WriteString(indexLine(entries[i]))
	}
	update := q.command("update-index", "-z", "--index-info")
	update.Index, update.Stdin = index, []byte(lines.String())
	_, err = update.Run(ctx)
	return err
}

// oddFiles returns those paths whose content some attribute changes when it is stored. Most turns
// change none, which saves asking git for attributes.
func oddFiles(dir string, paths []string) (odd []string) {
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(full)
		if err == nil && (!isStoredText(content) || bytes.Contains(content, []byte("\r\n")) || bytes.Contains(content, []byte("$Id:"))) {
			odd = append(odd, p)
		}
	}
	return odd
}

func prefixed(with string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = with + line
	}
	return out
}

// storedBefore returns what the tree that was checked out has at a path; nil: it has no file there.
func (m *Mirror) storedBefore(ctx context.Context, c Commit, path string) ([]byte, error) {
	tree, err := m.treeOf(ctx, c.checkedOut())
	if err != nil {
		return nil, err
	}
	at, ok, err := m.objects.entryAt(ctx, tree, path)
	if err != nil || !ok || !strings.HasPrefix(at.Mode, "100") {
		return nil, err
	}
	return m.objects.content(ctx, object{OID: at.OID, Kind: "blob"})
}

// attributes asks git for the attributes of paths by the .gitattributes in an index alone.
func (q *quarantine) attributes(ctx context.Context, index string, paths []string) (map[string]attributes, error) {
	if err := os.MkdirAll(filepath.Join(q.Dir, "refs"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(q.Dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600); err != nil {
		return nil, err
	}
	c := q.command("check-attr", "--cached", "-z", "--stdin", "text", "crlf", "eol", "ident", "working-tree-encoding")
	c.GitDir, c.Index, c.Env = q.Dir, index, []string{"GIT_ATTR_NOSYSTEM=1"}
	c.Stdin = []byte(strings.Join(paths, "\x00") + "\x00")
	res, err := runPatterns(ctx, c, patternTimeout(q.mirror))
	if err != nil {
		return nil, err
	}
	all := map[string]attributes{}
	for f := splitFields(res.Stdout); len(f) >= 3; f = f[3:] {
		if all[f[0]] == nil {
			all[f[0]] = attributes{}
		}
		all[f[0]][f[1]] = f[2]
	}
	return all, nil
}

// attributes has a path's attributes as check-attr prints them: set, unset, unspecified or a value.
type attributes map[string]string

var identKeyword = lazy.Regexp(`\$Id:[^$\n]*\$`)

// stored returns what git stores for a content of the working tree. before is what it has stored for
// the path, nil if nothing. It follows convert_to_git in git's convert.c, except that text in UTF-8
// is never decoded: our checkouts have it that way, whatever working-tree-encoding says.
func (a attributes) stored(content, before []byte) ([]byte, error) {
	encoding := strings.ToUpper(a["working-tree-encoding"])
	switch encoding {
	case "", "UNSPECIFIED", "UNSET", "SET", "UTF-8", "UTF8":
	default:
		if isStoredText(content) {
			break
		}
		text, ok := fromUTF16(content, encoding)
		if !ok {
			return nil, fmt.Errorf("is neither UTF-8 nor %s, its working-tree-encoding in .gitattributes: it has to be written in UTF-8", encoding)
		}
		content = text
	}
	if a.dropsCR(content, before) {
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	if a["ident"] == "set" {
		content = identKeyword().ReplaceAllLiteral(content, []byte("$Id$"))
	}
	return content, nil
}

// dropsCR reports whether git stores CRLF as LF. With text=auto it does not in binary files, nor in
// files that it stored with CRLF.
func (a attributes) dropsCR(content, before []byte) bool {
	text := a["text"]
	if text != "set" && text != "unset" && text != "input" && text != "auto" {
		text = a["crlf"] // the attribute's former name
	}
	switch text {
	case "unset":
		return false
	case "set", "input":
		return true
	case "auto":
		return !looksBinary(content) && (!bytes.Contains(before, []byte("\r\n")) || looksBinary(before))
	}
	return a["eol"] == "lf" || a["eol"] == "crlf"
}

// looksBinary is convert_is_binary of git's convert.c: there is a NUL, a CR without LF, or one
// unprintable byte for each 128 others.
func looksBinary(content []byte) bool {
	content = bytes.TrimSuffix(content, []byte{0x1a}) // CP/M's end of file
	printable, others := 0, 0
	for i, b := range content {
		switch {
		case b == 0, b == '\r' && (i+1 == len(content) || content[i+1] != '\n'):
			return true
		case b == '\r', b == '\n':
		case b == 0x7f, b < ' ' && !bytes.ContainsRune([]byte("\b\t\x1b\f"), rune(b)):
			others++
		default:
			printable++
		}
	}
	return printable>>7 < others
}

// isStoredText reports whether a content is text as git stores it.
func isStoredText(content []byte) bool {
	return utf8.Valid(content) && bytes.IndexByte(content, 0) < 0
}

// fromUTF16 decodes UTF-16 in one of git's five forms of it. A byte order mark is dropped;
// UTF-16 and the forms ending in -BOM need one.
func fromUTF16(content []byte, encoding string) ([]byte, bool) {
	name, found := strings.CutPrefix(encoding, "UTF-16")
	var order binary.ByteOrder
	switch {
	case !found || len(content)%2 != 0:
		return nil, false
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}) && !strings.HasPrefix(name, "BE"):
		order, content = binary.LittleEndian, content[2:]
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}) && !strings.HasPrefix(name, "LE"):
		order, content = binary.BigEndian, content[2:]
	case name == "LE":
		order = binary.LittleEndian
	case name == "BE":
		order = binary.BigEndian
	default:
		return nil, false
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = order.Uint16(content[2*i:])
	}
	text := utf16.Decode(units) // it replaces unpaired surrogates
	return []byte(string(text)), slices.Equal(utf16.Encode(text), units)
}
