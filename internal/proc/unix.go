//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

var defaultEndSignal os.Signal = syscall.SIGTERM

// askGroup signals the program's group.
func askGroup(_ context.Context, leader *os.Process, sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(-leader.Pid, s)
	}
}

// killGroup kills the group of a program that has not ended, so that its pid
// is its own.
func killGroup(_ context.Context, leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// killRecordedGroup kills the group of a descendant that is still there: as
// long as it is, the group's number cannot be anybody else's.
func killRecordedGroup(ctx context.Context, e entry) {
	if same(ctx, e) {
		_ = syscall.Kill(-e.group, syscall.SIGKILL)
	}
}

func killEntry(ctx context.Context, e entry) bool { return signalEntry(ctx, e, os.Kill) }

// signalEntry signals one process if it is still the one that was recorded.
// Where the system has process handles, FindProcess takes one, so that the
// check and the signal are about the same process.
func signalEntry(ctx context.Context, e entry, sig os.Signal) bool {
	p, err := os.FindProcess(e.pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	return same(ctx, e) && p.Signal(sig) == nil
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}

// executable reports whether a file can be run.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case info.Mode()&0o111 == 0:
		return os.ErrPermission
	}
	return nil
}

func candidates(path string) []string { return []string{path} }

func detached(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
