//go:build unix

package story

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/story/scripted"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// suite runs the tests with the programs of the stories on PATH.
type suite struct{ testhome.Waiting }

// Run runs the tests.
func (s suite) Run() int {
	if err := buildFakes(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := s.Waiting.Run()
	spent.print()
	return code
}

// buildFakes puts the scripted agent and the schedulers' programs beside gh-mergexo.
func buildFakes() error {
	self, err := program("gh-mergexo")
	if err != nil {
		return err
	}
	at := filepath.Join(filepath.Dir(self), "scripted")
	build := exec.Command("go", "build", "-o", at, "./scripted/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the stories' programs: %w\n%s", err, out)
	}
	for name := range scripted.Programs {
		err = errors.Join(err, os.Link(at, filepath.Join(filepath.Dir(self), name)))
	}
	return err
}

// twiceVariable asks the program to run each function given to the database's Update twice.
const twiceVariable = "STORY_TWICE"

// runProgram is the program in a story, or in a test outside of one.
func runProgram() int {
	work.Probe, files.Pretend = panicWhere, os.Getenv("MERGEXO_FILESYSTEM")
	env := cmd.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Root: filepath.Join(os.Getenv("WORK"), "root"), Demo: demo.Commands, Strict: true, Twice: os.Getenv(twiceVariable) != "", Shared: os.Getenv(sharedVariable) != "",
	}
	path := os.Getenv(clockVariable)
	if path == "" {
		return cmd.Main(env)
	}
	c, err := openClock(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(os.Args) > 1 && os.Args[1] == "tick" && c.stands() {
		if err := c.later(time.Second); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	c.starts.Add(1)
	env.Now = c.Now
	code := cmd.Main(env)
	c.processes.Add(proc.Started())
	for _, whose := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(whose, &used) == nil {
			c.cpu.Add(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return code
}

// panicWhere panics where a story's variable MERGEXO_PANIC says: a text that begins what is done.
func panicWhere(doing string) {
	if at := os.Getenv("MERGEXO_PANIC"); at != "" && strings.HasPrefix(doing, at) {
		panic("the story says so")
	}
}
