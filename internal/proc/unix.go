//go:build unix

package proc

import (
	"context"
	"errors"
	"io/fs"
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

// killGroup kills the group of a program that has not been waited for, so that its pid is still its
// own.
func killGroup(_ context.Context, leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// killRecordedGroup kills the group of a descendant that still exists: until it ends, the group's
// number cannot be reused.
func killRecordedGroup(ctx context.Context, e entry) {
	if same(ctx, e) {
		_ = syscall.Kill(-e.group, syscall.SIGKILL)
	}
}

func killEntry(ctx context.Context, e entry) bool { return signalEntry(ctx, e, os.Kill) }

// signalEntry signals a process if it is still the recorded one. If the system has process handles,
// FindProcess takes one, so that check and signal concern the same process.
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

// executable returns an error if a file cannot be run.
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

// blocks returns a file's size on disk, its identity and whether it has several names.
func blocks(info fs.FileInfo) (n int64, id fileID, shared bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size(), fileID{}, false
	}
	return st.Blocks * 512, fileID{uint64(st.Dev), st.Ino}, st.Nlink > 1
}

// fileSystem returns a folder's file system and how many bytes of it are used.
func fileSystem(dir string) (id uint64, used int64, ok bool) {
	var at syscall.Stat_t
	var fs syscall.Statfs_t
	if syscall.Stat(dir, &at) != nil || syscall.Statfs(dir, &fs) != nil {
		return 0, 0, false
	}
	return uint64(at.Dev), int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize), true
}
