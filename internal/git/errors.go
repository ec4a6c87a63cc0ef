package git

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SigningError means that a commit could not be signed although the operator's git signs commits.
type SigningError struct{ Detail string }

func (e *SigningError) Error() string {
	return "sign commit (commit.gpgsign is set): " + e.Detail
}

// NoGitError means that there is no git on PATH.
type NoGitError struct{ Err error }

func (e *NoGitError) Error() string {
	return fmt.Sprintf("git is not on PATH; install git %d.%d or later", wantMajor, wantMinor)
}
func (e *NoGitError) Unwrap() error { return e.Err }

// VersionError means that the installed git is too old.
type VersionError struct{ Have, Want string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("git %s is too old: %s or later is needed", e.Have, e.Want)
}

// CheckoutError means that a commit cannot be checked out until a person changes the repository.
type CheckoutError struct{ Why, Do string }

func (e *CheckoutError) Error() string { return "check out: " + e.Why }

// NetworkError means that the remote could not be reached or the connection broke.
type NetworkError struct{ Op, Detail string }

func (e *NetworkError) Error() string { return fmt.Sprintf("%s: no connection: %s", e.Op, e.Detail) }

// AccessError means that the remote denies access or does not exist.
type AccessError struct{ Op, Detail string }

func (e *AccessError) Error() string { return fmt.Sprintf("%s: no access: %s", e.Op, e.Detail) }

// TimeoutError means that a command was killed at a time limit.
type TimeoutError struct {
	Command string
	Limit   proc.Limit
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("git %s: ended at the %s time limit", e.Command, e.Limit)
}

// CommandError is a failure of a git command for which no other error type fits. If this machine is
// at fault, the error is a *work.MachineError instead.
type CommandError struct {
	Command string
	Code    int
	Stderr  string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.Command, e.Code, gist(e.Stderr, 3))
}

// Says reports whether git printed one of the signs.
func (e *CommandError) Says(signs []string) bool { return containsSign(e.Stderr, signs) }

// gist returns the most telling lines of git's stderr.
func (e *CommandError) gist(n int) string { return gist(e.Stderr, n) }

// gist returns at most n lines of a text on one line: first what git calls an error, then other
// lines, then warnings and advice; of each the last ones.
func gist(text string, n int) string {
	ranks := [3][]string{}
	for _, line := range errorLines(text) {
		rank := 1
		switch {
		case hasPrefix(line, "fatal:", "error:"):
			rank = 0
		case hasPrefix(line, "warning:", "hint:"):
			rank = 2
		}
		ranks[rank] = append(ranks[rank], line)
	}
	var told []string
	for _, lines := range ranks {
		told = append(told, lines[len(lines)-min(len(lines), n-len(told)):]...)
	}
	return strings.Join(told, "; ")
}

// errorLines splits git's stderr. Progress ends its lines with a carriage return.
func errorLines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}

func hasPrefix(line string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(line, p) })
}

// faults are the texts, in lower case, by which git reports that this machine does not let it work,
// with the remedy. Missing permissions, without one, are a fault only in a folder of ours: an agent
// may leave files in its checkout that nobody can read.
var faults = []struct{ sign, do string }{
	{"no space left on device", work.MakeRoom},
	{"disk quota exceeded", work.MakeRoom},
	{"read-only file system", work.MountForWriting},
	{"input/output error", "check the disk"},
	{"permission denied", ""},
	{"operation not permitted", ""},
	{"insufficient permission", ""},
}

// failure returns the error of a command that ended with an exit code: a *work.MachineError if this
// machine kept it from its work, else a *CommandError. What a remote says, "remote: …", is about
// another machine.
func (c command) failure(name string, code int, stderr string) error {
	own := []string{c.GitDir, c.Index}
	for _, variable := range c.Objects {
		_, path, _ := strings.Cut(variable, "=")
		own = append(own, path)
	}
	own = slices.DeleteFunc(own, func(path string) bool { return path == "" || path == os.DevNull })
	failed := &CommandError{Command: name, Code: code, Stderr: stderr}
	for _, line := range errorLines(stderr) {
		if !hasPrefix(line, "fatal:", "error:") {
			continue
		}
		named := slices.IndexFunc(own, func(path string) bool { return strings.Contains(line, path) })
		for _, f := range faults {
			switch {
			case !strings.Contains(strings.ToLower(line), f.sign):
			case f.do != "":
				return &work.MachineError{Err: errors.New(failed.Error()), Do: f.do}
			case named >= 0:
				return &work.MachineError{Err: errors.New(failed.Error()), Do: work.LetUse(own[named])}
			}
		}
	}
	return failed
}

// Texts, in lower case, by which git and remotes report failures. There is no other way to tell
// them apart: git reports in prose.
var (
	accessSigns = []string{
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
	damageSigns = []string{"is corrupt", "bad object", "did not send all necessary objects", "unable to unpack", "loose object file", "packfile"}
)

// containsSign reports whether a text contains one of the signs, ignoring case.
func containsSign(text string, signs []string) bool {
	text = strings.ToLower(text)
	for _, s := range signs {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// remoteError converts the failure of a command that contacted a remote.
func remoteError(op string, err error) error {
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return &NetworkError{Op: op, Detail: late.Error()}
	}
	failed, ok := errors.AsType[*CommandError](err)
	switch {
	case !ok:
		return err
	case failed.Says(accessSigns):
		return &AccessError{Op: op, Detail: failed.gist(4)}
	case failed.Says(networkSigns):
		return &NetworkError{Op: op, Detail: failed.gist(4)}
	}
	return err
}

// MissingError means that a commit is neither in the mirror nor on the remote.
type MissingError struct{ OID string }

func (e *MissingError) Error() string { return fmt.Sprintf("commit %s is missing", e.OID) }

// LeaseError means that the remote branch is not where it was expected. Nothing was pushed.
type LeaseError struct{ Branch, Expected, Detail string }

func (e *LeaseError) Error() string {
	at := e.Expected
	if at == "" {
		at = "absent"
	}
	return fmt.Sprintf("push %s: the remote branch moved (expected %s): %s", e.Branch, at, e.Detail)
}

// RejectedError means that the remote refused a push, and will again until a person acts.
type RejectedError struct{ Branch, Reason, Hint string }

func (e *RejectedError) Error() string {
	return fmt.Sprintf("push %s: refused: %s", e.Branch, e.Reason)
}

// UnclearError means that a push may or may not have been applied.
type UnclearError struct {
	Branch string
	Err    error
}

func (e *UnclearError) Error() string {
	return fmt.Sprintf("push %s: no clear answer: %v", e.Branch, e.Err)
}

func (e *UnclearError) Unwrap() error { return e.Err }
