package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Cause explains a failed connection to a host and what to check.
func Cause(host string, err error) (cause, next string) {
	if cause, next = explainConnection(host, err); next == "" {
		next = "check that this machine is online: gh api --hostname " + host + " rate_limit"
	}
	return cause, next
}

func explainConnection(host string, err error) (cause, next string) {
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
		return fmt.Sprintf("the proxy for %s cannot be reached (%s)", host, Short(op.Err)), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s cannot be resolved (%s)", name.Name, name.Err), ""
	case errors.Is(err, http.ErrSchemeMismatch):
		return "what answers for " + host + " does not speak HTTPS", "perhaps a proxy or a login page of the network answers in its place"
	case certificate(err) != "":
		return fmt.Sprintf("the certificate of %s is invalid (%s)", host, certificate(err)), "check this machine's clock; if a proxy decrypts traffic, install its certificate or name it in SSL_CERT_FILE"
	case errors.As(err, &op) && op.Net == "unix":
		return fmt.Sprintf("gh's http_unix_socket cannot be used (%s)", Short(op)), "start the program that listens there, or remove the setting: gh config set http_unix_socket \"\""
	case errors.Is(err, syscall.ECONNREFUSED):
		return host + " refuses connections", ""
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no route to " + host, ""
	case errors.As(err, &timeout) && timeout.Timeout():
		return host + " does not answer in time", ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection to " + host + " broke off before its answer", ""
	}
	return fmt.Sprintf("%s cannot be reached (%s)", host, Short(err)), ""
}

// certificate explains a certificate error; "" for other errors.
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
		return Short(unknown.Err)
	}
	return Short(err)
}

// longestWords limits foreign texts in our messages, in characters.
const longestWords = 120

// Short returns an error's text on one short line, without its request, which varies even if the
// cause is the same.
func Short(err error) string {
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

// proxyError is a proxy's refusal to connect.
type proxyError struct{ proxy, status string }

func (e *proxyError) Error() string { return fmt.Sprintf("proxy %s: %s", e.proxy, e.status) }
