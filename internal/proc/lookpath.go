package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotFound means that no folder of the list contains the program.
var ErrNotFound = errors.New("program not found")

// LookPath finds a program in a list of folders in the form of PATH. Relative folders are skipped:
// they would lead into the checkout. A name with a separator is only checked.
func LookPath(file, pathList string) (string, error) {
	if strings.ContainsRune(file, '/') || strings.ContainsRune(file, filepath.Separator) {
		return lookFile(file)
	}
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := lookFile(filepath.Join(dir, file)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("look for %q in %q: %w", file, pathList, ErrNotFound)
}

func lookFile(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("look for %q: %w", path, err)
	}
	for _, c := range candidates(abs) {
		if err = executable(c); err == nil {
			return c, nil
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		err = ErrNotFound
	}
	return "", fmt.Errorf("look for %q: %w", path, err)
}

// Detach starts a program in its own session with its output in log, and does not wait for it.
func Detach(ctx context.Context, path string, args, env []string, dir string, log *os.File) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	cmd.Env = append([]string{}, env...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	detached(cmd)
	keepDescriptors()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("detach %q: %w", path, err)
	}
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("detach %q: %w", path, err)
	}
	return nil
}

// maxFirstLine is how many bytes of a script are read.
const maxFirstLine = 4096

// Interpreter returns the program in a script's first line: a path, or for env the name to find on
// PATH.
func Interpreter(script string) string {
	f, err := os.Open(script)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(f, maxFirstLine)).ReadString('\n')
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return ""
}
