package plumbing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// VersionError says that the installed git is too old.
type VersionError struct{ Have, Want string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("git %s is too old: %s or later is needed", e.Have, e.Want)
}

// NetworkError says that the remote could not be reached, or not to the end.
type NetworkError struct{ Op, Detail string }

func (e *NetworkError) Error() string { return fmt.Sprintf("%s: no connection: %s", e.Op, e.Detail) }

// AccessError says that the remote does not let us in, or does not exist.
type AccessError struct{ Op, Detail string }

func (e *AccessError) Error() string { return fmt.Sprintf("%s: no access: %s", e.Op, e.Detail) }

// TimeoutError says that a command was ended at a limit.
type TimeoutError struct {
	Command string
	Limit   proc.Limit
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("git %s: ended at the %s time limit", e.Command, e.Limit)
}

// CommandError is any other failure of a git command.
type CommandError struct {
	Command string
	Code    int
	Stderr  string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.Command, e.Code, LastLines(e.Stderr, 3))
}

// noRoomSigns are git's words for a disk that takes nothing more.
var noRoomSigns = []string{"no space left on device", "disk quota exceeded", "read-only file system"}

// Says reports whether git printed one of the signs.
func (e *CommandError) Says(signs []string) bool { return Says(e.Stderr, signs) }

// LastLines is the end of what git printed, on one line.
func (e *CommandError) LastLines(n int) string { return LastLines(e.Stderr, n) }

// NoRoom reports whether the command failed because the disk takes nothing more.
func (e *CommandError) NoRoom() bool {
	return e.Says(noRoomSigns)
}

// LastLines is the end of what git said, on one line.
func LastLines(s string, n int) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "; ")
}

// Signs, in lower case, by which git and the remotes tell what went wrong.
// There is no other channel: git answers in prose.
var (
	AccessSigns = []string{
		"authentication failed", "permission denied", "permission to ", "could not read username", "could not read password",
		"terminal prompts disabled", "repository not found", "' not found", "does not appear to be a git repository", "returned error: 401",
		"returned error: 403", "host key verification failed", "access denied", "access to repository not granted",
		"unable to find remote helper", "transport 'ext' not allowed", "detected dubious ownership",
	}
	networkSigns = []string{
		"could not resolve", "connection timed out", "connection refused", "connection reset", "network is unreachable",
		"operation timed out", "could not connect", "couldn't connect", "failed to connect", "unable to access",
		"early eof", "hung up unexpectedly", "unexpected disconnect", "rpc failed", "returned error: 5", "returned error: 429",
		"ssh: connect to host", "connection closed", "could not read from remote repository", "no route to host",
	}
	DamageSigns   = []string{"is corrupt", "bad object", "did not send all necessary objects", "unable to unpack", "loose object file", "packfile"}
	HopelessSigns = []string{"no space left", "read-only file system", "insufficient permission", "disk quota", "unable to create temporary"}
)

// Says reports whether a text has one of the signs.
func Says(text string, signs []string) bool {
	text = strings.ToLower(text)
	for _, s := range signs {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// RemoteError says what kind of failure a command had that spoke to a remote.
func RemoteError(op string, err error) error {
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return &NetworkError{Op: op, Detail: late.Error()}
	}
	failed, ok := errors.AsType[*CommandError](err)
	switch {
	case !ok, failed.Says(HopelessSigns):
		return err
	case failed.Says(AccessSigns):
		return &AccessError{Op: op, Detail: failed.LastLines(4)}
	case failed.Says(networkSigns):
		return &NetworkError{Op: op, Detail: failed.LastLines(4)}
	}
	return err
}
