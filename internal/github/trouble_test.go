package github

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Four requests with one cause give one trouble; with two causes, two.
func TestTroublesOnce(t *testing.T) {
	ghConfig(t, nil, nil)
	login := func(path string) error {
		return fmt.Errorf("list %s: %w", path, &transport.Error{Status: 401, Message: "Bad credentials", URL: "https://api.github.com/" + path})
	}
	name := &transport.UnreachableError{Host: "github.com", Err: &url.Error{Op: "Get", URL: "https://api.github.com/x", Err: &net.OpError{
		Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.github.com", IsNotFound: true},
	}}}
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"none", nil, nil},
		{
			"four of one kind", errors.Join(login("a"), login("b"), fmt.Errorf("read: %w", errors.Join(login("c"), login("d")))),
			[]string{"github.com does not accept gh's login (401: Bad credentials); run: gh auth login --hostname github.com"},
		},
		{"two kinds", errors.Join(login("a"), name, login("b")), []string{
			"github.com does not accept gh's login (401: Bad credentials); run: gh auth login --hostname github.com",
			"the name api.github.com cannot be resolved (no such host); check that this machine is online: gh api --hostname github.com rate_limit",
		}},
		{"502", &transport.Error{Status: 502, URL: "x"}, []string{"github.com has a problem of its own (502: Bad Gateway); a later pass tries again; see https://www.githubstatus.com"}},
		{
			"403", &transport.Error{Status: 403, Message: "Resource protected by organization SAML enforcement."},
			[]string{"github.com refuses this account (403: Resource protected by organization SAML enforcement.); see what it may do, and whether its token is allowed here: gh auth status --hostname github.com"},
		},
		{
			"SAML with its link", &transport.Error{Status: 403, Message: "Resource protected by organization SAML enforcement.", SSO: "https://github.com/orgs/octo/sso?authorization_request=x"},
			[]string{"an organization on github.com wants gh's login to be authorized for it (SAML single sign-on); open within an hour: https://github.com/orgs/octo/sso?authorization_request=x"},
		},
		{
			"404", &transport.Error{Status: 404, Message: "Not Found"},
			[]string{"it does not exist, or is not visible to this account (404: Not Found); check its name under [[repo]] in the config, and the login: gh auth status --hostname github.com"},
		},
		{
			"a write that got no answer", &transport.UnclearError{Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}},
			[]string{"there is no route to github.com; check that this machine is online: gh api --hostname github.com rate_limit"},
		},
		{"nothing of GitHub's", errors.New("disk full"), nil},
		{"an interrupt", context.Canceled, nil},
		{
			"a certificate", &transport.UnreachableError{Err: &tls.CertificateVerificationError{Err: errors.New("x509: certificate has expired")}},
			[]string{"the certificate of github.com is invalid (x509: certificate has expired); check this machine's clock; if a proxy decrypts traffic, install its certificate or name it in SSL_CERT_FILE"},
		},
	} {
		var got []string
		for _, one := range Troubles("github.com", c.err) {
			got = append(got, one.String())
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestLoginFault: what a login is refused on the whole host, for an owner, or in one repository.
func TestLoginFault(t *testing.T) {
	ghConfig(t, nil, nil)
	for name, c := range map[string]struct {
		err         error
		fault, host bool
	}{
		"no login": {&transport.NotLoggedInError{Host: "github.com"}, true, true},
		"401":      {fmt.Errorf("list: %w", errors.Join(errors.New("x"), &transport.Error{Status: 401})), true, true},
		"SAML":     {&transport.Error{Status: 403, SSO: "https://github.com/orgs/octo/sso"}, true, false},
		"403":      {&transport.Error{Status: 403}, false, false},
		"502":      {&transport.Error{Status: 502}, false, false},
		"none":     {nil, false, false},
	} {
		fault, ok := LoginFault("github.com", c.err)
		if ok != c.fault || ok && fault.Host != c.host {
			t.Errorf("%s: %+v, %v", name, fault, ok)
		}
	}
}

// If a variable holds the token, the variable must change: gh does not log in beside it.
func TestTroubleNamesTheVariable(t *testing.T) {
	ghConfig(t, nil, map[string]string{"GH_TOKEN": "wrong"})
	found := Troubles("github.com", &transport.Error{Status: 401, Message: "Bad credentials"})
	if len(found) != 1 || found[0].Next != "give GH_TOKEN a valid token, or unset it and run: gh auth login --hostname github.com" {
		t.Errorf("got %+v", found)
	}
}
