package testhome

import (
	"fmt"
	"os/exec"
	"time"
)

// removing is the shell's part: it waits for the end of its standard input,
// which comes as well when the process at the other end is killed. A program
// that is being ended may still be writing, so it tries more than once.
const removing = `trap '' HUP INT TERM; read -r _; for _ in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 1; done`

// patience is how long the removal may take.
const patience = 30 * time.Second

// remover starts a process that removes a folder once this one has gone, and
// gives a function that has it removed now.
func remover(dir string) (func(), error) {
	shell := exec.Command("/bin/sh", "-c", removing, "sh", dir)
	apart(shell)
	end, err := shell.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = end.Close()
		late := time.AfterFunc(patience, func() { _ = shell.Process.Kill() })
		defer late.Stop()
		_ = shell.Wait() // a folder that stays does not make the test fail
	}, nil
}
