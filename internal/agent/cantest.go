package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
)

// CanTest looks for the program of the tests where they would run. It starts
// nothing but a shell, which only looks.
func (t Tester) CanTest(ctx context.Context, r Request, argv []string) error {
	path, err := t.program(r.Dir, argv[0])
	if err != nil {
		return err
	}
	if err := startable(path); err != nil {
		return testsMissing(filepath.Base(path), err)
	}
	if runtime.GOOS == "windows" {
		return nil // there is no such shell
	}
	if t.spec.Wrap != nil {
		there, err := t.finds(ctx, r, "/bin/sh", path)
		switch {
		case err != nil:
			return err
		case !there:
			return t.notVisible(argv[0])
		}
	}
	name := firstWord(argv)
	if name == "" {
		return nil
	}
	there, err := t.finds(ctx, r, argv[0], name)
	switch {
	case err != nil || there:
		return err
	case t.spec.Wrap != nil:
		return t.notVisible(name)
	}
	return testsMissing(filepath.Base(name), errors.New("the shell does not find it"))
}

// startable refuses what is no program.
func startable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%q is a folder", path)
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// The exit codes of the script that looks for a program: others say nothing.
const (
	codeThere    = 40
	codeNotThere = 41
)

// finds asks a shell whether it would find a program, in the tests' place: with
// their environment and in their sandbox. Where that is not certain it does.
func (t Tester) finds(ctx context.Context, r Request, shell, name string) (bool, error) {
	script := fmt.Sprintf(`command -v -- "$1" >/dev/null 2>&1 && exit %d; exit %d`, codeThere, codeNotThere)
	res, err := t.Test(ctx, Within(r), []string{shell, "-c", script, "sh", name})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err != nil || res.Code != codeNotThere, nil //nolint:nilerr // the tests themselves will say it
}

// plainCommand is a command line that means the same to every shell.
var plainCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*([A-Za-z0-9_./+-]+)(?:[ \t]+[A-Za-z0-9_./+:,@%=-]+)*[ \t]*$`)
})

// shells are those whose -c is followed by a command line.
var shells = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:.*/)?(?:sh|bash|dash|zsh|ksh)$`) })

// firstWord is the program that a shell's command line begins with, where that is
// certain; else empty.
func firstWord(argv []string) string {
	if len(argv) < 3 || argv[1] != "-c" || !shells().MatchString(argv[0]) {
		return ""
	}
	m := plainCommand().FindStringSubmatch(argv[2])
	if m == nil {
		return ""
	}
	return m[1]
}

func (t Tester) notVisible(name string) error {
	return t.notInside(name, "no agent was run")
}
