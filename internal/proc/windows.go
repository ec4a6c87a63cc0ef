//go:build windows

package proc

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

var defaultEndSignal os.Signal = os.Kill

func attributes(Cmd) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askGroup kills the tree at once: Windows has no signal that asks.
func askGroup(ctx context.Context, leader *os.Process, _ os.Signal) { killGroup(ctx, leader) }

func killGroup(ctx context.Context, leader *os.Process) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run()
	_ = leader.Kill()
}

func killRecordedGroup(context.Context, entry) {}

func killEntry(context.Context, entry) bool { return false }

func signalEntry(context.Context, entry, os.Signal) bool { return false }

// processes returns none: taskkill finds the tree itself.
func processes(context.Context) ([]entry, error) { return nil, nil }

// EndMarked does nothing: Windows shows no environments.
func EndMarked(context.Context, string) (int, error) { return 0, nil }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

func executable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return os.ErrPermission
	}
	return err
}

func candidates(path string) []string {
	if filepath.Ext(path) != "" {
		return []string{path}
	}
	return []string{path + ".exe", path + ".cmd", path + ".bat"}
}

func detached(cmd *exec.Cmd) {
	const detachedProcess = 0x00000008
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

// keepDescriptors does nothing: a program gets only the handles named at its start.
func keepDescriptors() {}

// Boot is empty: only Linux has an id for each start of the system.
func Boot() string { return "" }

// EndFirst ends nothing: only Linux has process namespaces.
func EndFirst(context.Context, int, string) bool { return false }

func blocks(info fs.FileInfo) (n int64, id fileID, shared bool) { return info.Size(), fileID{}, false }

// fileSystem reports nothing, so folders are walked from time to time.
func fileSystem(string) (id uint64, used int64, ok bool) { return 0, 0, false }
