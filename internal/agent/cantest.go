package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// CanTest looks for the tests' program where they would run. It only starts a shell that looks.
func (t Tester) CanTest(ctx context.Context, r Request, argv []string) error {
	path, err := t.program(r.Dir, argv[0])
	if err != nil {
		return err
	}
	if err := startable(path); err != nil {
		return testsMissing(filepath.Base(path), err)
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

// startable returns an error if the path is not an executable file.
func startable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%q is a folder", path)
	case info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// Exit codes of the script that looks for a program. Other codes prove nothing.
const (
	codeThere    = 40
	codeNotThere = 41
)

// finds asks a shell whether it finds a program in the tests' environment and sandbox. If the
// answer is unclear, it returns true.
func (t Tester) finds(ctx context.Context, r Request, shell, name string) (bool, error) {
	script := fmt.Sprintf(`command -v -- "$1" >/dev/null 2>&1 && exit %d; exit %d`, codeThere, codeNotThere)
	res, err := t.Test(ctx, Within(r), []string{shell, "-c", script, "sh", name})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err != nil || res.Code != codeNotThere, nil //nolint:nilerr // the tests themselves will say it
}

// plainCommand matches a command line that every shell reads alike.
var plainCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*([A-Za-z0-9_./+-]+)(?:[ \t]+[A-Za-z0-9_./+:,@%=-]+)*[ \t]*$`)
})

// shells matches shells that take a command line after -c.
var shells = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:.*/)?(?:sh|bash|dash|zsh|ksh)$`) })

// firstWord returns the program with which a shell's command line begins, or "" if that is not
// certain.
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
