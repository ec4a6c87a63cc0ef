package github

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/cli/go-gh/v2/pkg/auth"
)

// The codes of troubles: for programs, so they stay as they are.
const (
	TroubleLogin       = "login"       // no login, or one that is not accepted
	TroubleForbidden   = "forbidden"   // the account may not
	TroubleNotFound    = "not_found"   // it is not there, or not visible to the account
	TroubleUnreachable = "unreachable" // no answer came
	TroubleServer      = "server"      // the answer is no use
)

// Trouble is why GitHub could not be asked, in words for people.
type Trouble struct {
	Code  string
	Cause string // what is wrong
	Next  string // what to type or to look at
}

// String is both in one line.
func (t Trouble) String() string { return t.Cause + "; " + t.Next }

// Troubles finds what is wrong in an error, each cause once however many requests
// came to it. It is nil where the error is nothing that has a name here.
func Troubles(host string, err error) []Trouble {
	var all []Trouble
	for _, one := range split(err) {
		t, ok := trouble(host, one)
		same := func(other Trouble) bool { return other.Code == t.Code && other.Next == t.Next }
		if ok && !slices.ContainsFunc(all, same) {
			all = append(all, t)
		}
	}
	return all
}

// split takes errors apart that were joined, however deep.
func split(err error) []error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, ok := e.(interface{ Unwrap() []error }); ok {
			var all []error
			for _, part := range joined.Unwrap() {
				all = append(all, split(part)...)
			}
			return all
		}
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func trouble(host string, err error) (Trouble, bool) {
	if missing, ok := errors.AsType[*NotLoggedInError](err); ok {
		return Trouble{TroubleLogin, "not logged in to " + missing.Host, "run: gh auth login --hostname " + missing.Host}, true
	}
	if refused, ok := errors.AsType[*Error](err); ok {
		return refusal(host, refused)
	}
	if body, ok := errors.AsType[*BodyError](err); ok {
		return Trouble{
			TroubleServer, fmt.Sprintf("what answers for %s is not GitHub's API (%s)", host, short(body.Err)),
			"perhaps a proxy or a login page of the network answers in its place; see: gh api --hostname " + host + " rate_limit",
		}, true
	}
	_, unanswered := errors.AsType[*UnreachableError](err)
	if _, unclear := errors.AsType[*UnclearError](err); unclear || unanswered {
		return unreachable(host, err), true
	}
	return Trouble{}, false
}

// refusal is about an answer that says no.
func refusal(host string, e *Error) (Trouble, bool) {
	switch {
	case e.Status == http.StatusUnauthorized:
		return Trouble{TroubleLogin, fmt.Sprintf("%s does not accept gh's login (401: %s)", host, said(e)), newLogin(host)}, true
	case e.Status == http.StatusForbidden:
		return Trouble{
			TroubleForbidden, fmt.Sprintf("%s refuses this account (403: %s)", host, said(e)),
			"see what it may do, and whether its token is allowed here: gh auth status --hostname " + host,
		}, true
	case e.Status == http.StatusNotFound, e.Status == http.StatusGone:
		return Trouble{
			TroubleNotFound, fmt.Sprintf("it does not exist, or is not visible to this account (%d: %s)", e.Status, said(e)),
			"check its name under [[repo]] in the config, and the login: gh auth status --hostname " + host,
		}, true
	case e.Status >= http.StatusInternalServerError:
		return Trouble{TroubleServer, fmt.Sprintf("%s has a problem of its own (%d: %s)", host, e.Status, said(e)), "a later pass tries again; " + statusPage(host)}, true
	}
	return Trouble{}, false
}

// said are GitHub's words in an answer, in a line that is not too long.
func said(e *Error) string {
	if words := short(errors.New(e.Message)); words != "" {
		return words
	}
	return http.StatusText(e.Status)
}

// newLogin says how to log in again. gh does not do that while a variable holds a
// token.
func newLogin(host string) string {
	_, source := auth.TokenFromEnvOrConfig(host)
	if strings.HasSuffix(source, "_TOKEN") {
		return fmt.Sprintf("give %s a valid token, or unset it and run: gh auth login --hostname %s", source, host)
	}
	return "run: gh auth login --hostname " + host
}

func statusPage(host string) string {
	if auth.IsEnterprise(host) {
		return "if it lasts, ask who runs " + host
	}
	return "see https://www.githubstatus.com"
}

// unreachable is about a request to which no whole answer came.
func unreachable(host string, err error) Trouble {
	cause, next := wire(host, err)
	if next == "" {
		next = "check that this machine is online: gh api --hostname " + host + " rate_limit"
	}
	return Trouble{TroubleUnreachable, cause, next}
}

// wire says what is wrong on the way to the host.
func wire(host string, err error) (cause, next string) {
	var (
		name    *net.DNSError
		op      *net.OpError
		proxy   *proxyError
		timeout net.Error
	)
	switch {
	case errors.As(err, &proxy):
		return fmt.Sprintf("the proxy %s does not let requests to %s through (%s)", proxy.proxy, host, proxy.status), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and what the proxy allows"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Sprintf("the proxy for %s cannot be reached (%s)", host, short(op.Err)), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s cannot be resolved (%s)", name.Name, name.Err), ""
	case errors.Is(err, http.ErrSchemeMismatch):
		return "what answers for " + host + " does not speak HTTPS", "perhaps a proxy or a login page of the network answers in its place"
	case certificate(err) != "":
		return fmt.Sprintf("the certificate of %s is not accepted (%s)", host, certificate(err)), "check this machine's clock; where a proxy reads along, install its certificate or name it in SSL_CERT_FILE"
	case errors.As(err, &op) && op.Net == "unix":
		return fmt.Sprintf("gh's http_unix_socket cannot be used (%s)", short(op)), "start what listens there, or take it out: gh config set http_unix_socket \"\""
	case errors.Is(err, syscall.ECONNREFUSED):
		return host + " refuses connections", ""
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no route to " + host, ""
	case errors.As(err, &timeout) && timeout.Timeout():
		return host + " does not answer in time", ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection to " + host + " broke off before its answer", ""
	}
	return fmt.Sprintf("%s cannot be reached (%s)", host, short(err)), ""
}

// certificate says what is wrong with a certificate; empty when nothing is.
func certificate(err error) string {
	var (
		unknown *tls.CertificateVerificationError
		invalid x509.CertificateInvalidError
		alert   tls.AlertError
	)
	switch {
	case errors.As(err, &invalid), errors.As(err, &unknown), errors.As(err, &alert):
	default:
		return ""
	}
	if unknown != nil {
		return short(unknown.Err)
	}
	return short(err)
}

// longestWords bounds what others say in our lines.
const longestWords = 120

// short is an error's text in a line that is not too long, without the request in
// front of it: that differs where the cause does not.
func short(err error) string {
	if err == nil {
		return ""
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	if r := []rune(text); len(r) > longestWords {
		return string(r[:longestWords]) + "…"
	}
	return text
}

// proxyError is a proxy's refusal to connect us.
type proxyError struct{ proxy, status string }

func (e *proxyError) Error() string { return fmt.Sprintf("proxy %s: %s", e.proxy, e.status) }

// Silent is about a host that did not answer at all.
func Silent(host string) Trouble {
	return unreachable(host, &UnreachableError{Host: host, Err: context.DeadlineExceeded})
}
