package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// placeholders are empty files and folders that agents' programs leave at the root of a checkout,
// to block these names in their own sandboxes. Seen in codex 0.169 and claude 2.1.
var placeholders = []string{
	".codex", ".agents", ".aws", ".claude", ".vscode", ".idea", "node_modules",
	".env", ".env.*", ".npmrc", ".yarnrc", ".yarnrc.yml", ".gitmodules", ".mcp.json", ".ripgreprc", ".bashrc", ".zshrc", ".profile", ".gitconfig",
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
}

// dropLeftovers removes placeholders that are not in the commit's index: an empty package.json or
// .npmrc is never intended.
func dropLeftovers(ctx context.Context, m *Mirror, dir, index string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var found []string
	for _, e := range entries {
		if isPlaceholder(e.Name()) && isEmpty(filepath.Join(dir, e.Name()), e) {
			found = append(found, e.Name())
		}
	}
	if len(found) == 0 {
		return nil
	}
	known, err := m.checkoutCommand(dir, index, append([]string{"ls-files", "-z", "--cached", "--"}, found...)...).fields(ctx)
	if err != nil {
		return err
	}
	for _, name := range found {
		if slices.ContainsFunc(known, func(p string) bool { return p == name || strings.HasPrefix(p, name+"/") }) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func isPlaceholder(name string) bool {
	return slices.ContainsFunc(placeholders, func(glob string) bool { ok, _ := path.Match(glob, name); return ok })
}

// isEmpty reports whether an entry is an empty file or folder.
func isEmpty(at string, e fs.DirEntry) bool {
	if e.IsDir() {
		inside, err := os.ReadDir(at)
		return err == nil && len(inside) == 0
	}
	info, err := e.Info()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}
