package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/auth"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Codes of troubles. Programs read them, so they never change.
const (
	TroubleLogin       = "login"       // no login, or a rejected one
	TroubleForbidden   = "forbidden"   // the account lacks the permission
	TroubleNotFound    = "not_found"   // missing, or hidden from the account
	TroubleUnreachable = "unreachable" // no answer came
	TroubleServer      = "server"      // the answer is unusable
)

// Trouble explains to people why a request to GitHub failed.
type Trouble struct {
	Code  string
	Cause string // what is wrong
	Next  string // the command to run, or where to look
}

// String returns cause and next step on one line.
func (t Trouble) String() string { return t.Cause + "; " + t.Next }

// LoginError means that GitHub accepts nothing from gh's login: on a whole host, or for all repositories of
// an owner.
type LoginError struct {
	Trouble Trouble
	Host    bool // on the whole host
	Err     error
}

func (e *LoginError) Error() string { return e.Trouble.String() }

// Unwrap is part of errors.
func (e *LoginError) Unwrap() error { return e.Err }

// LoginFault returns an error of a request as a LoginError, if it is one: no login, one that GitHub rejects,
// or one that an organization wants to be authorized.
func LoginFault(host string, err error) (*LoginError, bool) {
	for _, one := range splitErrors(err) {
		if t, ok := troubleOf(host, one); ok && t.Code == TroubleLogin {
			refused, answered := errors.AsType[*transport.Error](one)
			return &LoginError{t, !answered || refused.SSO == "", one}, true
		}
	}
	return nil, false
}

// Troubles explains an error. Each cause appears once, even if several requests had it. Errors of
// other kinds are skipped; the result is nil if none is known.
func Troubles(host string, err error) []Trouble {
	var all []Trouble
	for _, one := range splitErrors(err) {
		t, ok := troubleOf(host, one)
		same := func(other Trouble) bool { return other.Code == t.Code && other.Next == t.Next }
		if ok && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// splitErrors flattens joined errors at any depth.
func splitErrors(err error) []error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, ok := e.(interface{ Unwrap() []error }); ok {
			var all []error
			for _, part := range joined.Unwrap() {
				all = append(all, splitErrors(part)...)
			}
			return all
		}
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func troubleOf(host string, err error) (Trouble, bool) {
	if missing, ok := errors.AsType[*transport.NotLoggedInError](err); ok {
		return Trouble{TroubleLogin, "not logged in to " + missing.Host, "run: gh auth login --hostname " + missing.Host}, true
	}
	if refused, ok := errors.AsType[*transport.Error](err); ok {
		return refusalTrouble(host, refused)
	}
	if body, ok := errors.AsType[*transport.BodyError](err); ok {
		return Trouble{
			TroubleServer, fmt.Sprintf("what answers for %s is not GitHub's API (%s)", host, transport.Short(body.Err)),
			"perhaps a proxy or a login page of the network answers in its place; see: gh api --hostname " + host + " rate_limit",
		}, true
	}
	_, unanswered := errors.AsType[*transport.UnreachableError](err)
	if _, unclear := errors.AsType[*transport.UnclearError](err); unclear || unanswered {
		return unreachableTrouble(host, err), true
	}
	return Trouble{}, false
}

// refusalTrouble explains an answer with an error status.
func refusalTrouble(host string, e *transport.Error) (Trouble, bool) {
	switch {
	case e.Status == http.StatusUnauthorized:
		next := LogIn(host, "a valid token")
		if TokenVariable(host) == "" {
			next = "run: " + next
		}
		return Trouble{TroubleLogin, fmt.Sprintf("%s does not accept gh's login (401: %s)", host, messageOf(e)), next}, true
	case e.SSO != "":
		return Trouble{TroubleLogin, fmt.Sprintf("an organization on %s wants gh's login to be authorized for it (SAML single sign-on)", host), "open within an hour: " + e.SSO}, true
	case e.Status == http.StatusForbidden && strings.Contains(e.Message, "was archived"):
		return Trouble{
			TroubleForbidden, "the repository is archived: nothing can be written there, whatever the account may do",
			"unarchive it, or take its [[repo]] out of the config",
		}, true
	case e.Status == http.StatusForbidden:
		return Trouble{
			TroubleForbidden, fmt.Sprintf("%s refuses this account (403: %s)", host, messageOf(e)),
			"see what it may do, and whether its token is allowed here: gh auth status --hostname " + host,
		}, true
	case e.Status == http.StatusNotFound, e.Status == http.StatusGone:
		return Trouble{
			TroubleNotFound, fmt.Sprintf("it does not exist, or is not visible to this account (%d: %s)", e.Status, messageOf(e)),
			"check its name under [[repo]] in the config, and the login: gh auth status --hostname " + host,
		}, true
	case e.Status >= http.StatusInternalServerError:
		return Trouble{TroubleServer, fmt.Sprintf("%s has a problem of its own (%d: %s)", host, e.Status, messageOf(e)), "a later pass tries again; " + statusPage(host)}, true
	}
	return Trouble{}, false
}

// messageOf returns GitHub's message of an answer on one short line.
func messageOf(e *transport.Error) string {
	if words := transport.Short(errors.New(e.Message)); words != "" {
		return words
	}
	return http.StatusText(e.Status)
}

func statusPage(host string) string {
	if auth.IsEnterprise(host) {
		return "if it lasts, ask who runs " + host
	}
	return "see https://www.githubstatus.com"
}

// unreachableTrouble explains a request without a whole answer.
func unreachableTrouble(host string, err error) Trouble {
	cause, next := transport.Cause(host, err)
	return Trouble{TroubleUnreachable, cause, next}
}

// UnansweredTrouble explains a host that did not answer at all.
func UnansweredTrouble(host string) Trouble {
	return unreachableTrouble(host, &transport.UnreachableError{Host: host, Err: context.DeadlineExceeded})
}
