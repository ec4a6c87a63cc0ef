package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// FileChange is one file of the difference of two commits. It is read from the contents alone:
// neither attributes nor a NUL byte hide lines.
type FileChange struct {
	Path      string // of a deleted file: its former path
	From      string // the former path of a renamed file; empty: it has none
	Size      int64  // of its content in bytes, the larger one of both sides
	Lines     int    // added and removed ones, at least 1; of a renamed file all of both sides
	Counted   bool   // Lines and Text are the whole change. False: it is binary, too large, a submodule, or its content is in LFS
	Generated bool   // the trusted commit's attributes mark it with linguist-generated
	Text      string // its part of the difference, with three lines of context; empty unless Counted

	old treeEntry // in the first commit
	now treeEntry
}

// Deleted reports whether the file is gone, and not renamed.
func (f FileChange) Deleted() bool { return f.now.Mode == modeNone }

// Limits of what Changes reads. What is beyond them is not counted.
const (
	maxFileDiff = 1 << 20  // bytes of one side of a file
	maxChange   = 64 << 20 // bytes of both sides of all files
	pathsAtOnce = 200      // arguments of one command
)

// Changes returns the files that differ between two commits, sorted by path. No file is hidden by
// the size of another one. from may be several commits, as MergeBases joins them: then a file is
// shown as it differs from each, because who merges in both directions chooses which of them shows
// nothing of what a merge takes back. trusted is the commit whose .gitattributes name generated
// files; "": none are looked for.
func (m *Mirror) Changes(ctx context.Context, from, to, trusted string) (all []FileChange, err error) {
	for base := range strings.SplitSeq(from, "-") {
		one, err := m.changesFrom(ctx, base, to)
		if err != nil {
			return nil, fmt.Errorf("read the change from %s to %s: %w", base, to, err)
		}
		all = joinChanges(all, one)
	}
	if trusted != "" && len(all) > 0 {
		if err := m.markGenerated(ctx, trusted, to, all); err != nil {
			return nil, fmt.Errorf("read the attributes of %s: %w", trusted, err)
		}
	}
	return all, nil
}

func (m *Mirror) changesFrom(ctx context.Context, from, to string) ([]FileChange, error) {
	all, err := m.listChanges(ctx, from, to)
	if err == nil {
		err = m.addTexts(ctx, from, to, all)
	}
	if err == nil {
		err = m.countRenamed(ctx, all)
	}
	return slices.DeleteFunc(all, func(f FileChange) bool { return f.Path == "" }), err
}

// joinChanges adds what a commit changes from a further one to what it changes from others.
func joinChanges(all, further []FileChange) []FileChange {
	if all == nil {
		return further
	}
	at := map[string]int{}
	for i, f := range all {
		at[f.Path] = i
	}
	for _, f := range further {
		i, known := at[f.Path]
		if !known {
			all = append(all, f)
			continue
		}
		if had := &all[i]; had.old.Mode != f.old.Mode || had.old.OID != f.old.OID {
			had.Size, had.Lines, had.Text, had.Counted = max(had.Size, f.Size), had.Lines+f.Lines, had.Text+f.Text, had.Counted && f.Counted
			if !had.Counted {
				had.Text = ""
			}
		}
	}
	sorted.By(all, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// listChanges lists the changed files with their sizes.
func (m *Mirror) listChanges(ctx context.Context, from, to string) ([]FileChange, error) {
	changes, err := m.treeChanges(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]FileChange, len(changes))
	var oids []string
	var at []int
	for i, c := range changes {
		all[i] = FileChange{Path: c.Path, Lines: 1, old: c.Old, now: c.New}
		for _, e := range []treeEntry{c.Old, c.New} {
			if e.Mode != modeNone && e.Mode != modeGitlink {
				oids, at = append(oids, e.OID), append(at, i)
			}
		}
	}
	found, err := m.objects.resolve(ctx, oids...)
	for k, o := range found {
		all[at[k]].Size = max(all[at[k]].Size, o.Size)
	}
	return all, err
}

// addTexts adds the texts, for the small files first. Files that are too large are left out of
// git's command, so that they use up nobody's room.
func (m *Mirror) addTexts(ctx context.Context, from, to string, all []FileChange) error {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Size, all[b].Size) })
	room := int64(maxChange)
	byPath := map[string]*FileChange{}
	for _, i := range order {
		f := &all[i]
		if f.Size > maxFileDiff || 2*f.Size > room || f.old.Mode == modeGitlink || f.now.Mode == modeGitlink {
			continue
		}
		room -= 2 * f.Size
		byPath[f.Path] = f
	}
	if len(byPath) == len(all) { // no paths to name: also renames are found among any number
		return m.diffFiles(ctx, from, to, nil, byPath)
	}
	var paths []string
	for _, f := range all {
		if byPath[f.Path] != nil {
			paths = append(paths, f.Path)
		}
	}
	for some := range slices.Chunk(paths, pathsAtOnce) {
		if err := m.diffFiles(ctx, from, to, some, byPath); err != nil {
			return err
		}
	}
	return nil
}

// diffFiles runs git on some paths, none being all, and adds their texts.
func (m *Mirror) diffFiles(ctx context.Context, from, to string, paths []string, byPath map[string]*FileChange) error {
	c := m.command(slices.Concat([]string{
		"diff-tree", "-r", "-p", "-U3", "--text", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/", from, to, "--",
	}, paths)...)
	c.Config, c.Env = []string{"core.quotePath=false"}, []string{"GIT_ATTR_NOSYSTEM=1"}
	res, err := c.Run(ctx)
	if err != nil {
		return err
	}
	unseen := map[string]bool{}
	for _, text := range splitDiff(string(res.Stdout)) {
		path, former := namesInDiff(text)
		f := byPath[path]
		if f == nil || paths != nil && !slices.Contains(paths, path) { // a path names the files below it, too
			continue
		}
		if was := byPath[former]; former != "" && was != nil {
			f.From, f.old, f.Size = former, was.old, max(f.Size, was.Size)
			*was = FileChange{} // Changes drops it
		}
		unseen[path] = unseen[path] || hidden(text)
		f.Text += exact(text) // a file that became a link has two parts
		f.Counted, f.Lines = true, max(1, changedLines(f.Text))
	}
	for path := range unseen {
		if f := byPath[path]; unseen[path] {
			f.Text, f.Counted, f.Lines = "", false, 1
		}
	}
	return nil
}

// exact makes text that shows each byte of a part of a difference. A run of bytes that are no text
// would be one character, and what follows a carriage return would be a line of its own, which the
// file's author may begin like an old or a removed one.
func exact(text string) string {
	if utf8.ValidString(text) && !strings.Contains(text, "\r") {
		return text
	}
	var b strings.Builder
	for at, r := range text {
		switch {
		case r == '\r' && !strings.HasPrefix(text[at+1:], "\n"):
			b.WriteString(`\u{d}`)
		case r == utf8.RuneError && !strings.HasPrefix(text[at:], "\ufffd"):
			fmt.Fprintf(&b, `\x{%02x}`, text[at])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a part of a difference does not show what changes: text has no NUL bytes
// unless somebody wants to hide it, and then the rest is text. An LFS pointer is not its content.
func hidden(text string) bool {
	return strings.Contains(text, "\x00") && !utf8.ValidString(text) ||
		strings.Contains(text, "version https://git-lfs.github.com/spec/v1\n") && lfsObject().MatchString(text)
}

var lfsObject = lazy.Regexp(`(?m)^[-+]oid sha256:[0-9a-f]{64}$`)

// splitDiff splits a difference into its files. Lines of their contents have another first
// character.
func splitDiff(diff string) []string {
	const header = "diff --git "
	var parts []string
	for begin := strings.Index(diff, header); begin >= 0 && begin < len(diff); {
		end := strings.Index(diff[begin:], "\n"+header)
		if end < 0 {
			return append(parts, diff[begin:])
		}
		parts = append(parts, diff[begin:begin+end+1])
		begin += end + 1
	}
	return parts
}

// namesInDiff returns a file's path from its part of a difference, and its former one if it was
// renamed.
func namesInDiff(text string) (path, former string) {
	first, rest, _ := strings.Cut(text, "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "@@ ") {
			break
		}
		if name, ok := strings.CutPrefix(line, "rename from "); ok {
			former = unquoted(name)
		}
		if name, ok := strings.CutPrefix(line, "rename to "); ok {
			return unquoted(name), former
		}
	}
	both := strings.TrimPrefix(first, "diff --git ")
	if strings.HasPrefix(both, `"`) { // both are quoted, and equal
		if name, err := strconv.QuotedPrefix(both); err == nil {
			return strings.TrimPrefix(unquoted(name), "a/"), ""
		}
	}
	return strings.TrimPrefix(both[:len(both)/2], "a/"), "" // "a/PATH b/PATH"
}

func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

// changedLines counts the lines that a file's part of a difference adds and removes. It counts
// lines as the hunks' headers do, because content may look like a header.
func changedLines(text string) (n int) {
	before, after := 0, 0 // lines of the hunk still to come on each side
	for line := range strings.Lines(text) {
		switch {
		case before <= 0 && after <= 0:
			if _, old, now, ok := partOf(line); ok {
				before, after = old, now
			}
		case strings.HasPrefix(line, "-"):
			n, before = n+1, before-1
		case strings.HasPrefix(line, "+"):
			n, after = n+1, after-1
		case !strings.HasPrefix(line, `\`):
			before, after = before-1, after-1
		}
	}
	return n
}

// countRenamed counts all lines of both sides of renamed files: another path may mean another use.
func (m *Mirror) countRenamed(ctx context.Context, all []FileChange) error {
	for i := range all {
		f := &all[i]
		if f.From == "" || !f.Counted {
			continue
		}
		f.Lines = 0
		for _, e := range []treeEntry{f.old, f.now} {
			content, err := m.objects.content(ctx, object{OID: e.OID, Kind: "blob"})
			if err != nil {
				return err
			}
			f.Lines += max(1, strings.Count(string(content), "\n"))
		}
	}
	return nil
}

// markGenerated marks the files that the attributes of a trusted commit call generated. It asks git
// with an index that has nothing but that commit's .gitattributes.
func (m *Mirror) markGenerated(ctx context.Context, trusted, to string, all []FileChange) error {
	entries, err := m.entries(ctx, trusted)
	if err != nil {
		return err
	}
	var attributes, asked strings.Builder
	for _, e := range entries {
		if path.Base(e.Path) == ".gitattributes" && e.Mode != modeSymlink && e.Mode != modeGitlink {
			attributes.WriteString(indexLine(e))
		}
	}
	if attributes.Len() == 0 {
		return nil
	}
	for _, f := range all {
		if f.Path != "" {
			asked.WriteString(f.Path + "\x00")
		}
	}
	generated := map[string]bool{}
	err = m.withScratch("attributes "+trusted+to, func(q *quarantine) error {
		made := q.command("update-index", "-z", "--index-info")
		made.Index, made.Stdin = filepath.Join(q.Dir, "index"), []byte(attributes.String())
		if _, err := made.Run(ctx); err != nil {
			return err
		}
		c := q.command("check-attr", "--cached", "-z", "--stdin", "linguist-generated")
		c.Index, c.Stdin = made.Index, []byte(asked.String())
		res, err := runPatterns(ctx, c, patternTimeout(m))
		if _, slow := errors.AsType[*RefusedError](err); slow { // then no file counts as generated
			return nil
		}
		for f := splitFields(res.Stdout); len(f) >= 3; f = f[3:] {
			generated[f[0]] = f[2] == "set" || f[2] == "true"
		}
		return err
	})
	for i := range all {
		all[i].Generated = generated[all[i].Path]
	}
	return err
}

// Beside is the folder below a checkout in which Restore lays out a change. It is inside the agent's own
// repository, so that no file of the change is in its place, searches do not find it, and every
// program that reads files can read it.
const Beside = ".git/review"

// Limits of what layOut writes, in bytes.
const (
	maxLaidFile = 8 << 20
	maxLaid     = 256 << 20
)

// layOut writes a change beside a checkout that was just restored: the whole difference, and the
// changed files as they were, also deleted ones. What does not fit is left out, as are names that
// the file system cannot hold.
func layOut(ctx context.Context, m *Mirror, dir string, change []FileChange) error {
	at := filepath.Join(dir, filepath.FromSlash(Beside))
	if err := errors.Join(files.Remove(at), os.MkdirAll(filepath.Join(at, "base"), 0o755)); err != nil {
		return fmt.Errorf("lay out a change: %w", err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return fmt.Errorf("lay out a change: %w", err)
	}
	defer func() { _ = root.Close() }()
	var diff strings.Builder
	var old []object
	var paths []string
	room := int64(maxLaid)
	for _, f := range change {
		diff.WriteString(strings.ReplaceAll(f.Text, "\x00", "\u2400")) // else programs take the file for a binary one
		if f.Text == "" {
			fmt.Fprintf(&diff, "(%s is not in this file: it is binary, too large, a submodule or in LFS)\n", strconv.Quote(f.Path))
		}
		if f.old.Mode == modeNone || f.old.Mode == modeGitlink || f.old.Mode == "" || f.Size > maxLaidFile || f.Size > room {
			continue
		}
		room -= f.Size
		old, paths = append(old, object{OID: f.old.OID, Kind: "blob", Size: f.Size}), append(paths, "base/"+cmp.Or(f.From, f.Path))
	}
	if err := root.WriteFile("change.diff", []byte(diff.String()), 0o644); err != nil {
		return fmt.Errorf("lay out a change: %w", err)
	}
	err = m.objects.Read(ctx, old, func(i int, content []byte) error {
		if root.MkdirAll(path.Dir(paths[i]), 0o755) == nil {
			_ = root.WriteFile(paths[i], content, 0o644) // a name that cannot be written is in change.diff
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("lay out a change: %w", err)
	}
	return nil
}
