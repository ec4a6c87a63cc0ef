// Package demo is the story of gh mergexo demo: a simulated GitHub with a small
// repository, the people on it, a scripted agent, and real passes of this program,
// which it starts as people do and whose output it reads.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// Options are what the demo is played with.
type Options struct {
	Out  terminal.Output
	Now  func() time.Time
	Env  environ.Env
	Slow func(what string) (over func()) // called before a step that takes long; over ends it; may be nil
	Keep string                          // the folder that everything is left in; empty: nothing is

	Address string // host:port at which the simulated GitHub answers; empty: a unix socket, or any port
}

// Play plays the story in a folder that is gone afterwards, or in one to keep.
func Play(ctx context.Context, opt Options) (err error) {
	ctx, stop := untilNobodyListens(ctx, &opt.Out)
	defer stop()
	if err := findGit(ctx, opt.Env); err != nil {
		return err
	}
	dir, remove, err := makeFolder(opt.Keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	d, err := newDemo(opt, dir, sideBySide(dir))
	if err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("set the demo up: %w", err))
	}
	grounds{d}.makeLabels()
	if err := (grounds{d}).writeConfig(grounds{d}.storyConfig()); err != nil {
		return errors.Join(err, d.close())
	}
	defer func() { err = errors.Join(err, d.close()) }()
	told := d.tell(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // the interrupt, or the failed write, caused the error
	case told != nil && opt.Keep == "":
		return fmt.Errorf("the demo failed: %w (demo --keep DIR keeps everything)", told)
	case told != nil:
		return fmt.Errorf("the demo failed: %w (everything is in %s)", told, dir)
	case opt.Keep == "":
		d.say("%s is removed now; with --keep DIR, everything stays.", dir)
		d.sayNext()
		return nil
	}
	defer sayKept(d)
	return leave(d, storyNotes(d))
}

// untilNobodyListens makes a context that ends with a reader that has seen enough (| head): the
// demo cleans up then as well.
func untilNobodyListens(ctx context.Context, out *terminal.Output) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	out.W = &earnest{out.W, cancel}
	return ctx, func() { cancel(nil) }
}

// earnest is a writer that ends the demo at the first failed write, such as to a closed pipe.
type earnest struct {
	io.Writer
	giveUp context.CancelCauseFunc
}

func (e *earnest) Write(b []byte) (int, error) {
	n, err := e.Writer.Write(b)
	if err != nil {
		e.giveUp(err)
	}
	return n, err
}

// findGit finds out, before anything is made, whether git can do the work.
func findGit(ctx context.Context, env environ.Env) error {
	_, err := git.Open(ctx, git.Options{Env: env.Git()})
	return err
}

// makeFolder makes the demo's folder. One to keep must be empty: what is in it
// could be lost otherwise.
func makeFolder(keep string) (dir string, remove func() error, err error) {
	if keep == "" {
		if dir, err = os.MkdirTemp("", "mergexo-demo-"); err != nil {
			return "", nil, fmt.Errorf("make a folder for the demo: %w", err)
		}
		return dir, func() error { return os.RemoveAll(dir) }, nil
	}
	if dir, err = filepath.Abs(keep); err != nil {
		return "", nil, fmt.Errorf("--keep %s: %w", keep, err)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(dir, 0o755)
	case err == nil && len(entries) > 0:
		return "", nil, fmt.Errorf("--keep %s: the folder is not empty; name one that is, or that does not exist", keep)
	}
	if err != nil {
		return "", nil, fmt.Errorf("--keep %s: %w", keep, err)
	}
	return dir, func() error { return nil }, nil
}
