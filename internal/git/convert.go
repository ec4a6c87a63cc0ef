package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A checkout has files as they are stored (rawAttributes). Of what an agent changed in it, a commit
// stores what "git add" would in a clone: .gitattributes decide on line endings and keywords.

// addAttributes lets .gitattributes decide on all but what runs something: filters, and iconv with an
// encoding that a stranger names.
const addAttributes = "* -filter !working-tree-encoding\n"

// addChanged adds the files of the checkout to an index. Those that git converts are added once more,
// under other attributes: most turns have none. After a change of .gitattributes these are all texts,
// which would otherwise differ from their commit in a fresh clone. Files with NUL bytes that the agent
// did not change stay as they are: "* text" would spoil them.
func (m *Mirror) addChanged(ctx context.Context, c Commit, index string, changed []string, q *quarantine) error {
	texts, spared := convertedFiles(c.Dir, changed)
	converted := slices.Concat(texts, spared)
	if slices.ContainsFunc(changed, isAttributes) {
		tracked, err := m.checkoutCommand(c.Dir, index, "ls-files", "-z").fields(ctx)
		if err != nil {
			return err
		}
		texts, spared = convertedFiles(c.Dir, tracked)
		converted = append(converted, texts...)
	}
	before, err := m.stagedLines(ctx, c.Dir, index, converted)
	if err != nil {
		return err
	}
	if err := addToIndex(ctx, q, m.checkoutCommand(c.Dir, index, "add", "--all", "--", ".")); err != nil || len(converted)+len(spared) == 0 {
		return err
	}
	back := q.command("update-index", "-z", "--index-info")
	back.Index, back.Stdin = index, []byte(before)
	if _, err := back.Run(ctx); err != nil {
		return err
	}
	return q.addConverted(ctx, c.Dir, index, converted, spared)
}

// isAttributes reports whether some file system takes a path for one of .gitattributes.
func isAttributes(at string) bool { return strings.EqualFold(path.Base(at), ".gitattributes") }

// stagedLines returns what git update-index reads to have an index contain of some paths what it contains now. What
// git converts depends on it: text=auto leaves a file that was stored with CRLF as it is.
func (m *Mirror) stagedLines(ctx context.Context, dir, index string, paths []string) (string, error) {
	if len(paths) == 0 {
		return "", nil
	}
	staged, err := m.checkoutCommand(dir, index, "ls-files", "--stage", "-z").fields(ctx)
	var lines strings.Builder
	some := map[string]bool{}
	for _, p := range paths {
		some[p] = true
		fmt.Fprintf(&lines, "0 %040d\t%s\x00", 0, p)
	}
	for _, line := range staged {
		if _, at, _ := strings.Cut(line, "\t"); some[at] {
			lines.WriteString(line + "\x00")
		}
	}
	return lines.String(), err
}

// convertedFiles returns those paths whose content git may convert; binary ones have a NUL byte.
func convertedFiles(dir string, paths []string) (texts, binary []string) {
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(full)
		switch {
		case err != nil:
		case bytes.IndexByte(content, 0) >= 0:
			binary = append(binary, p)
		case !utf8.Valid(content) || bytes.Contains(content, []byte("\r\n")) || bytes.Contains(content, []byte("$Id:")):
			texts = append(texts, p)
		}
	}
	return texts, binary
}

// isText reports whether a content is UTF-8, as a checkout has texts of all encodings.
func isText(content []byte) bool { return utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 }

// addConverted adds files to an index with q.Dir as the repository, because the mirror's
// info/attributes override .gitattributes. Of spared ones only the encoding is checked.
func (q *quarantine) addConverted(ctx context.Context, dir, index string, paths, spared []string) error {
	for _, folder := range []string{"refs", "info"} {
		if err := os.MkdirAll(filepath.Join(q.Dir, folder), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(q.Dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600); err != nil {
		return err
	}
	if err := q.checkEncodings(ctx, dir, index, slices.Concat(paths, spared)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(q.Dir, "info", "attributes"), []byte(addAttributes), 0o600); err != nil {
		return err
	}
	add := q.mirror.checkoutCommand(dir, index, "--literal-pathspecs", "add", "--pathspec-from-file=-", "--pathspec-file-nul")
	add.GitDir, add.Stdin = q.Dir, []byte(strings.Join(paths, "\x00"))
	return addToIndex(ctx, q, add)
}

// checkEncodings refuses files that are not UTF-8 although they have another working-tree-encoding: a clone
// would decode them, and the agent finds such files in UTF-8.
func (q *quarantine) checkEncodings(ctx context.Context, dir, index string, paths []string) error {
	others := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
		return err != nil || isText(content)
	})
	if len(others) == 0 {
		return nil
	}
	c := q.mirror.checkoutCommand(dir, index, "check-attr", "-z", "--stdin", "working-tree-encoding")
	c.GitDir, c.Stdin = q.Dir, []byte(strings.Join(others, "\x00"))
	res, err := runPatterns(ctx, c, patternTimeout(q.mirror))
	if err != nil {
		return err
	}
	var refused refusals
	for f := splitFields(res.Stdout); len(f) >= 3; f = f[3:] {
		if encoding := strings.ToUpper(f[2]); !slices.Contains([]string{"UNSPECIFIED", "UTF-8", "UTF8"}, encoding) {
			refused.add("%q has the working-tree-encoding %s in .gitattributes: in the checkout it has to be in UTF-8", f[0], f[2])
		}
	}
	return refused.err()
}

// hasEncodingWithoutValue reports whether a .gitattributes sets or unsets working-tree-encoding: git
// checks out no file to which that applies.
func hasEncodingWithoutValue(attributes []byte) bool {
	for line := range bytes.Lines(attributes) {
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if slices.Contains(words[1:], "working-tree-encoding") || slices.Contains(words[1:], "-working-tree-encoding") {
			return true
		}
	}
	return false
}
