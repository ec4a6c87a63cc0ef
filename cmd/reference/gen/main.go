// Gen writes the reference and the man pages of the repository that it is given.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/reference"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write replaces all that was generated before: a page of a command that is gone goes, too.
func write(root string) error {
	files, err := reference.All(cmd.Tree(), root)
	if err != nil {
		return err
	}
	for _, dir := range []string{"docs/reference", "share/man/man1"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
