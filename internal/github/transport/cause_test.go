package transport

import (
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Every way to get no answer has its own cause and next step.
func TestCauses(t *testing.T) {
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
		{name: "an unknown certificate", url: secure.URL, cause: "the certificate of ghes.example is invalid (x509: certificate signed by unknown authority)", next: "SSL_CERT_FILE"},
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
			err := ask(t, c.url, c.proxy, limit)
			if _, ok := errors.AsType[*UnreachableError](err); !ok {
				t.Fatalf("error %v, want an UnreachableError", err)
			}
			cause, next := Cause("ghes.example", err)
			if !strings.Contains(cause, c.cause) || !strings.Contains(next, c.next) {
				t.Errorf("got %s; %s", cause, next)
			}
			if strings.Contains(cause+next, "/some/where") {
				t.Errorf("names the request, which differs where the cause does not: %s; %s", cause, next)
			}
		})
	}
}

// ask sends one read as the client does, by a proxy if given, with a time limit.
func ask(t *testing.T, address, proxy string, limit time.Duration) error {
	t.Helper()
	wires := overNetwork()
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
	c := &Client{host: "ghes.example", rest: address + "/", http: &http.Client{Transport: bodyReader{wires}, Timeout: limit}, now: time.Now, log: slog.New(slog.DiscardHandler)}
	if proxy == "" {
		c.rest = u.Scheme + "://" + u.Host + "/"
	}
	_, err = c.Send(t.Context(), Call{Method: http.MethodGet, URL: "some/where"})
	return err
}

// nobodyListens returns a local address without a listener.
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
	_ = conn.Close() // before any answer
}
