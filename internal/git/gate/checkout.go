package gate

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Irregular are the kinds of file that no tree can hold.
const Irregular = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeCharDevice | fs.ModeIrregular

// Root refuses a checkout that is no folder of its own any more: through a
// link git would commit what lies elsewhere. A .gitignore or .gitattributes
// that is a pipe would have git wait for ever.
func Root(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return &RefusedError{Reason: "the checkout was removed or replaced"}
	}
	odd, err := findIrregular(dir)
	if err != nil {
		return fmt.Errorf("look through the checkout: %w", err)
	}
	var refused refusals
	for _, p := range odd {
		if b := path.Base(p); b != ".gitignore" && b != ".gitattributes" {
			continue // Files judges those that git would add
		}
		refused.add("%q is no file", p)
	}
	return refused.err()
}

// Files refuses what would be expensive or impossible to add.
func (g Gate) Files(ctx context.Context, index string) error {
	paths, err := Candidates(ctx, g.Mirror, g.Dir, index)
	if err != nil {
		return err
	}
	var refused refusals
	if max := g.Limits.MaxFiles; max > 0 && len(paths) > max {
		refused.add("%d files are changed, %d are allowed", len(paths), max)
		return refused.err()
	}
	for _, p := range paths {
		full := filepath.Join(g.Dir, filepath.FromSlash(p))
		info, err := os.Lstat(full)
		if err != nil {
			continue // removed
		}
		trouble := nameTrouble(p)
		switch {
		case trouble != "":
			refused.add("%s", trouble)
		case info.Mode()&fs.ModeSymlink != 0 && isGitmodules(path.Base(p)):
			refused.add("%q is a link, which git does not take", p)
		case info.Mode()&Irregular != 0:
			refused.add("%q is no file", p)
		case !info.Mode().IsRegular():
		case g.Limits.MaxFileBytes > 0 && info.Size() > g.Limits.MaxFileBytes:
			refused.add("%q has %d bytes, %d are allowed", p, info.Size(), g.Limits.MaxFileBytes)
		case info.Mode().Perm()&0o400 == 0:
			if err := os.Chmod(full, info.Mode().Perm()|0o400); err != nil {
				return err
			}
		}
	}
	return refused.err()
}
