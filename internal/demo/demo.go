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
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// Options are what the demo is played with.
type Options struct {
	Out  terminal.Output
	Now  func() time.Time
	Env  config.Env
	Keep string // the folder that everything is left in; empty: nothing is
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
	d, err := newDemo(opt, dir)
	if err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("set the demo up: %w", err))
	}
	defer func() { err = errors.Join(err, d.close()) }()
	told := d.tell(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // whatever broke, broke because of the interrupt
	case told != nil && opt.Keep == "":
		return fmt.Errorf("the demo did not go as told: %w (demo --keep DIR leaves everything to look at)", told)
	case told != nil:
		return fmt.Errorf("the demo did not go as told: %w (all of it is in %s)", told, dir)
	case opt.Keep == "":
		return nil
	}
	return d.writeNotes()
}

// untilNobodyListens makes a context that ends with the terminal, and with a
// reader that has seen enough (| head): the demo cleans up then as well. Go's
// default is to die of a write to a standard output that is closed.
func untilNobodyListens(ctx context.Context, out *terminal.Output) (context.Context, context.CancelFunc) {
	ctx, hangUp := signal.NotifyContext(ctx, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	written := make(chan os.Signal, 1) // never read: GitHub's clients break their connections, too
	signal.Notify(written, syscall.SIGPIPE)
	out.W = &earnest{out.W, cancel}
	return ctx, func() { signal.Stop(written); cancel(); hangUp() }
}

// earnest is a writer that gives up, once and for all, when nobody reads.
type earnest struct {
	io.Writer
	giveUp func()
}

func (e *earnest) Write(b []byte) (int, error) {
	n, err := e.Writer.Write(b)
	if err != nil {
		e.giveUp()
	}
	return n, err
}

// findGit finds out, before anything is made, whether git can do the work.
func findGit(ctx context.Context, env config.Env) error {
	_, err := git.Open(ctx, git.Options{Env: env.Git(), Identity: git.Identity{Name: "demo", Email: "demo@mergexo.invalid"}})
	if errors.Is(err, proc.ErrNotFound) {
		return errors.New("git is needed, 2.38 or later, and there is none in PATH")
	}
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

const notes = `# What gh mergexo demo left here

The simulated GitHub is gone; what it and gh mergexo kept is all here:

    config.toml   the configuration of the passes
    state/        the state folder: state.db, logs/, repos/ (mirrors), checkouts/
    github/       the repository as it was on GitHub
    gh/, home/    gh's configuration and the home folder of the passes
    agent.log     a line for each run of the agent
    program/      the program as it is on main

Look around:

    %[1]s status --all --config %[2]s/config.toml
    %[1]s show 1 --config %[2]s/config.toml
    git --git-dir %[3]s log --graph --oneline --all
    git --git-dir %[3]s show main:greet.sh
    sqlite3 %[2]s/state/state.db "select kind, step, runs, reason from turns"
    sqlite3 %[2]s/state/state.db "select kind, state, sends, result_url from actions order by id"

Every commit of a pass names the turn that made it:

    git --git-dir %[3]s log --format='%%h %%s%%n%%(trailers:key=Mergexo-Turn)' main
`

// writeNotes says in the kept folder how to look around.
func (d *demo) writeNotes() error {
	text := fmt.Sprintf(notes, d.self, d.dir, d.repo.GitDir())
	if err := os.WriteFile(filepath.Join(d.dir, "NOTES.md"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the notes: %w", err)
	}
	d.say("\nAll of it is in %s; NOTES.md there says how to look around.", d.dir)
	return nil
}
