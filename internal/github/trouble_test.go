package github

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each way in which no answer comes is told by its own cause, and by what to look at.
func TestTroublesOnTheWay(t *testing.T) {
	ghConfig(t, nil, nil)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hangUp(t, w) }))
	t.Cleanup(breaks.Close)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	t.Cleanup(refuses.Close)
	nobody := nobodyListens(t)
	for _, c := range []struct {
		name, url, proxy string
		cause, next      string
	}{
		{name: "an unknown certificate", url: secure.URL, cause: "the certificate of ghes.example is not accepted (x509: certificate signed by unknown authority)", next: "SSL_CERT_FILE"},
		{name: "no TLS at all", url: "https" + strings.TrimPrefix(plain.URL, "http"), cause: "what answers for ghes.example does not speak HTTPS", next: "login page"},
		{name: "nobody listens", url: "http://" + nobody, cause: "ghes.example refuses connections", next: "gh api --hostname ghes.example rate_limit"},
		{name: "it hangs up", url: breaks.URL, cause: "the connection to ghes.example broke off before its answer", next: "online"},
		{name: "it is silent", url: slow.URL, cause: "ghes.example does not answer in time", next: "online"},
		{name: "no proxy", url: "https://ghes.example", proxy: "http://" + nobody, cause: "the proxy for ghes.example cannot be reached (dial tcp " + nobody + ": connect: connection refused)", next: "HTTPS_PROXY"},
		{name: "a proxy that refuses", url: "https://ghes.example", proxy: refuses.URL, cause: "does not let requests to ghes.example through (407 Proxy Authentication Required)", next: "HTTPS_PROXY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := time.Minute
			if c.name == "it is silent" {
				limit = 200 * time.Millisecond
			}
			found := Troubles("ghes.example", ask(t, c.url, c.proxy, limit))
			if len(found) != 1 || found[0].Code != TroubleUnreachable {
				t.Fatalf("got %+v", found)
			}
			if !strings.Contains(found[0].Cause, c.cause) || !strings.Contains(found[0].Next, c.next) {
				t.Errorf("got %s", found[0])
			}
			if strings.Contains(found[0].String(), "/some/where") {
				t.Errorf("names the request, which differs where the cause does not: %s", found[0])
			}
		})
	}
}

// ask sends one read as the client does, by a proxy where there is one, and waits
// so long for the answer.
func ask(t *testing.T, address, proxy string, limit time.Duration) error {
	t.Helper()
	wires, ok := transport(Options{}).(*http.Transport)
	if !ok {
		t.Fatal("no transport of Go's")
	}
	t.Cleanup(wires.CloseIdleConnections)
	wires.Proxy = nil
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil {
			t.Fatal(err)
		}
		wires.Proxy = http.ProxyURL(u)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{host: "ghes.example", rest: address + "/", http: &http.Client{Transport: wires, Timeout: limit}, now: time.Now, log: slog.New(slog.DiscardHandler)}
	if proxy == "" {
		c.rest = u.Scheme + "://" + u.Host + "/"
	}
	_, err = c.send(t.Context(), call{method: http.MethodGet, url: "some/where"})
	return err
}

// nobodyListens is an address of this machine at which nobody does.
func nobodyListens(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func hangUp(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_ = conn.Close() // that is the trouble
}

// Four requests that fail for one reason have one trouble; those that fail for two
// have both.
func TestTroublesOnce(t *testing.T) {
	ghConfig(t, nil, nil)
	login := func(path string) error {
		return fmt.Errorf("list %s: %w", path, &Error{Status: 401, Message: "Bad credentials", URL: "https://api.github.com/" + path})
	}
	name := &UnreachableError{Host: "github.com", Err: &url.Error{Op: "Get", URL: "https://api.github.com/x", Err: &net.OpError{
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
		{"502", &Error{Status: 502, URL: "x"}, []string{"github.com has a problem of its own (502: Bad Gateway); a later pass tries again; see https://www.githubstatus.com"}},
		{
			"403", &Error{Status: 403, Message: "Resource protected by organization SAML enforcement."},
			[]string{"github.com refuses this account (403: Resource protected by organization SAML enforcement.); see what it may do, and whether its token is allowed here: gh auth status --hostname github.com"},
		},
		{
			"404", &Error{Status: 404, Message: "Not Found"},
			[]string{"it does not exist, or is not visible to this account (404: Not Found); check its name under [[repo]] in the config, and the login: gh auth status --hostname github.com"},
		},
		{
			"a write that got no answer", &UnclearError{Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}},
			[]string{"there is no route to github.com; check that this machine is online: gh api --hostname github.com rate_limit"},
		},
		{"nothing of GitHub's", errors.New("disk full"), nil},
		{"an interrupt", context.Canceled, nil},
		{
			"a certificate", &UnreachableError{Err: &tls.CertificateVerificationError{Err: errors.New("x509: certificate has expired")}},
			[]string{"the certificate of github.com is not accepted (x509: certificate has expired); check this machine's clock; where a proxy reads along, install its certificate or name it in SSL_CERT_FILE"},
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

// A variable that holds a token is what has to change: gh logs nobody in beside it.
func TestTroubleNamesTheVariable(t *testing.T) {
	ghConfig(t, nil, map[string]string{"GH_TOKEN": "wrong"})
	found := Troubles("github.com", &Error{Status: 401, Message: "Bad credentials"})
	if len(found) != 1 || found[0].Next != "give GH_TOKEN a valid token, or unset it and run: gh auth login --hostname github.com" {
		t.Errorf("got %+v", found)
	}
}
