package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// programDepth is how many interpreters may follow one another.
const programDepth = 3

// program lets in a program with its installation and, likewise, the interpreter that its first
// line names.
func (l *layout) program(path, why string, depth int) {
	_, at, err := l.follow(path)
	if info, statErr := os.Stat(path); err != nil || statErr != nil || !info.Mode().IsRegular() {
		return // a folder in a command line is data, and may contain the whole home
	}
	l.let(path, Read, why)
	l.installation(at, why)
	if name := proc.Interpreter(at); name != "" && depth > 0 {
		if found, err := proc.LookPath(name, l.box.Path); err == nil && filepath.IsAbs(found) {
			l.program(found, "the interpreter of "+filepath.Base(path), depth-1)
		}
	}
}

// installation lets in what belongs to a program: the packages that npm installed together, a
// prefix of Homebrew, or the folders beside bin. Any other program is let in alone.
func (l *layout) installation(program, why string) {
	if before, _, ok := strings.Cut(program, "/node_modules/"); ok {
		l.let(before+"/node_modules", Read, why)
		return
	}
	if before, _, ok := strings.Cut(program, "/Cellar/"); ok && l.mayBeOnPath(before) {
		l.let(before, Read, why)
		return
	}
	if dir := filepath.Dir(program); l.mayBeOnPath(dir) {
		l.beside(dir, why)
	}
}

// visible reports whether a program can be started inside: it and all its interpreters are let in.
// missing is the first one that is not.
func (b Box) visible(all []Entry, program string) (missing string, ok bool) {
	l := newLayout(b, "")
	for range programDepth + 1 {
		_, at, err := l.follow(program)
		if err != nil || !filepath.IsAbs(program) {
			return program, false
		}
		around, found := enclosing(all, at)
		if i := slices.IndexFunc(all, func(e Entry) bool { return e.Path == at }); i >= 0 {
			around, found = all[i], true
		}
		if !found || around.How != Read && around.How != Write {
			return program, false
		}
		name := proc.Interpreter(at)
		if name == "" {
			return "", true
		}
		if program, err = proc.LookPath(name, b.Path); err != nil {
			return name, false
		}
	}
	return "", true
}

// notVisible returns the error that tells the operator how to let the program in.
func (b Box) notVisible(program, missing string) error {
	if missing != program && !filepath.IsAbs(missing) {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyNotOnPath, Who: b.Agent, Name: missing, Local: "The program is " + program}}
	}
	why := "it is not visible there"
	if missing != program {
		why = program + " needs it, and " + why
	}
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyShutOut, Who: b.Agent, Name: missing, Text: why}}
}
