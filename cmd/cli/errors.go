package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// ErrorCode is the kind of error that ended a command. Programs read it, so a released code never
// changes.
type ErrorCode string

// The kinds of errors.
const (
	CodeUsage             ErrorCode = "usage"
	CodeNoConfig          ErrorCode = "no_config"
	CodeBadConfig         ErrorCode = "bad_config"
	CodeNoLogin           ErrorCode = "no_login"
	CodeNoState           ErrorCode = "no_state"
	CodeUnknownRepository ErrorCode = "unknown_repository"
	CodeUnknownItem       ErrorCode = "unknown_item"
	CodeNetwork           ErrorCode = "network"
	CodeRateLimited       ErrorCode = "rate_limited"
	CodeRefused           ErrorCode = "refused"
	CodeDisk              ErrorCode = "disk"
	CodeDatabase          ErrorCode = "database"
	CodeCancelled         ErrorCode = "cancelled"
	CodeFailed            ErrorCode = "failed"
)

// ErrorKind is a code, its meaning, and the usual remedy.
type ErrorKind struct {
	Code      ErrorCode
	Means, Do string
}

// ErrorKinds lists all codes in the order of the reference.
func ErrorKinds() []ErrorKind {
	return []ErrorKind{
		{CodeUsage, "the command line is wrong", ""},
		{CodeNoConfig, "there is no config", "gh mergexo init"},
		{CodeBadConfig, "the config, a prompt or a flow of your own cannot be used; the message names file and line", "fix what the message names, then: gh mergexo config"},
		{CodeNoLogin, "gh is not logged in, or GitHub does not accept the login; the exit code is 4", "gh auth login"},
		{CodeNoState, "no pass has run yet, so there is nothing to show or to change", "gh mergexo tick"},
		{CodeUnknownRepository, "the repository is not in the config", "gh mergexo config"},
		{CodeUnknownItem, "no work item has that number", "gh mergexo status --all"},
		{CodeNetwork, "GitHub did not answer, or its answer was unusable", "try again; gh api rate_limit shows whether gh reaches it"},
		{CodeRateLimited, "GitHub accepts no more requests of this account for a while", "wait; gh api rate_limit says until when"},
		{CodeRefused, "GitHub or the state of the work item does not allow it: nothing was done", "gh mergexo status"},
		{CodeDisk, "the state folder or its disk cannot be written, or the database is damaged", "make room, or set runtime.state_dir to a folder that you may write to"},
		{CodeDatabase, "the PostgreSQL database cannot be reached or used; the message says why", "gh mergexo doctor"},
		{CodeCancelled, "the command was interrupted; the exit code is 2", "run it again: nothing is lost"},
		{CodeFailed, "anything else; the message says what", ""},
	}
}

// CodedError is an error with a code.
type CodedError struct {
	Code ErrorCode
	Do   string // the remedy as a command; empty: the usual one of the code
	Err  error
}

func (e *CodedError) Error() string { return e.Err.Error() }
func (e *CodedError) Unwrap() error { return e.Err }

// Coded gives an error a code; nil stays nil.
func Coded(code ErrorCode, err error) error {
	if err == nil {
		return nil
	}
	return &CodedError{Code: code, Err: err}
}

// NotDone adds to a fault of the database, found before a command did anything, that it has to be typed again.
func NotDone(err error) error {
	fault, ok := errors.AsType[*work.MachineError](err)
	if _, server := errors.AsType[*store.ServerError](err); !ok || !server {
		return err
	}
	return &work.MachineError{Err: fault.Err, Do: fault.Do + ". Nothing was done: then type this again"}
}

// Unwritten returns why the output could not be written; nil: something else is wrong, alone or too.
func Unwritten(err error) (why error) {
	if all, joined := err.(interface{ Unwrap() []error }); joined {
		for _, one := range all.Unwrap() {
			if why = Unwritten(one); why == nil {
				return nil
			}
		}
		return why
	}
	if at, ok := err.(*fs.PathError); ok { //nolint:errorlint // what it wraps is no such error
		if at.Op == "write" && at.Path == os.Stdout.Name() {
			return at.Err
		}
		return nil
	}
	if err = errors.Unwrap(err); err != nil {
		return Unwritten(err)
	}
	return nil
}

// EnoughRead reports whether the output could not be written because its reader has closed it, as
// "head" does: that is the reader's wish.
func EnoughRead(err error) bool { return errors.Is(Unwritten(err), syscall.EPIPE) }

// NotComplete says that the output could not be written, and why.
func NotComplete(unwritten error) string {
	return "the output is not complete: " + unwritten.Error()
}

// codeOf returns the code of an error, and the remedy if the error has one.
func codeOf(err error, state string) (code ErrorCode, do string) {
	if Unwritten(err) != nil {
		return CodeFailed, ""
	}
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		return CodeDisk, damaged.MoveAway()
	}
	if fault, known := errors.AsType[*work.MachineError](err); known {
		do = fault.Do
	}
	if _, ok := errors.AsType[*store.ServerError](err); ok {
		return CodeDatabase, do
	}
	if moved, ok := errors.AsType[*store.MovedError](err); ok {
		return CodeDatabase, moved.Do()
	}
	if _, ok := errors.AsType[*config.DatabaseError](err); ok {
		return CodeDatabase, ""
	}
	if machine.DiskTrouble(err, state) != "" {
		return CodeDisk, do
	}
	if coded, ok := errors.AsType[*CodedError](err); ok {
		return coded.Code, coded.Do
	}
	if elsewhere, ok := errors.AsType[*folder.ElsewhereError](err); ok {
		return CodeFailed, elsewhere.Do()
	}
	if errors.Is(err, context.Canceled) {
		return CodeCancelled, ""
	}
	_, usage := errors.AsType[*UsageError](err)
	if _, filter := errors.AsType[*terminal.FilterError](err); usage || filter {
		return CodeUsage, ""
	}
	if wait, ok := errors.AsType[*work.WaitError](err); ok && wait.Reason.Kind == work.WhyGitHubLimit {
		return CodeRateLimited, ""
	}
	if all := github.Troubles(github.DefaultHost(), err); len(all) > 0 {
		return OfTrouble(all[0].Code), all[0].Next
	}
	return CodeFailed, ""
}

// OfTrouble translates the code of a trouble with GitHub, or of why a repository was not read.
func OfTrouble(code string) ErrorCode {
	switch code {
	case github.TroubleLogin:
		return CodeNoLogin
	case github.TroubleForbidden, github.TroubleNotFound, env.CauseBlocked:
		return CodeRefused
	case github.TroubleUnreachable, github.TroubleServer, env.CauseSlow:
		return CodeNetwork
	case env.CauseLimit:
		return CodeRateLimited
	}
	return CodeFailed
}

// ErrorView is an error as --json shows it.
type ErrorView struct {
	Code    ErrorCode `json:"code"`
	Message string    `json:"message"`
	Do      string    `json:"do"`
}

// ViewError returns the view of an error that ended a command.
func ViewError(err error, state, path string) ErrorView {
	v := ErrorView{Message: err.Error()}
	if unwritten := Unwritten(err); unwritten != nil {
		v.Message = NotComplete(unwritten)
	} else if line := machine.DiskTrouble(err, state); line != "" {
		v.Message = line
	}
	v.Code, v.Do = codeOf(err, state)
	switch {
	case v.Do != "":
	case v.Code == CodeUsage:
		v.Do = path + " --help"
	default:
		kinds := ErrorKinds()
		v.Do = kinds[slices.IndexFunc(kinds, func(k ErrorKind) bool { return k.Code == v.Code })].Do
	}
	return v
}

// Line is the view as one line of JSON.
func (v ErrorView) Line() string {
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]ErrorView{"error": v}); err != nil { // three strings always encode
		return ""
	}
	return strings.TrimSpace(line.String())
}

// WantsJSON reports whether a command line asks for JSON, even one that cannot be parsed.
func WantsJSON(args []string) bool {
	for _, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--json", strings.HasPrefix(arg, "--json="):
			return true
		}
	}
	return false
}
