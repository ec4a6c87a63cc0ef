package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cli/go-gh/v2/pkg/config"
)

// dialTimeout limits connecting to a host, including name resolution. It is shorter than an ingest
// may take, so that a pass can report the problem.
const dialTimeout = 10 * time.Second

// roundTripper returns the transport beneath go-gh's client.
func roundTripper(o Options) http.RoundTripper {
	socket := o.Socket
	if socket == "" {
		socket = configuredSocket()
	}
	if socket != "" {
		return bodyReader{overSocket(socket)}
	}
	return bodyReader{overNetwork()}
}

// overSocket sends every request to a unix socket over its own connection, as go-gh does.
func overSocket(path string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}
}

// overNetwork returns Go's default transport with the environment's proxies. A proxy's refusal
// becomes a *proxyError.
func overNetwork() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if plain, ok := http.DefaultTransport.(*http.Transport); ok {
		t = plain.Clone()
	}
	t.DialContext = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	t.OnProxyConnectResponse = func(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		return &proxyError{proxy: proxy.Host, status: answer.Status}
	}
	return t
}

// configuredSocket returns gh's http_unix_socket, "" if unset.
func configuredSocket() string {
	cfg, err := config.Read(nil)
	if err != nil {
		return ""
	}
	socket, err := cfg.Get([]string{"http_unix_socket"})
	if err != nil {
		return ""
	}
	return socket
}
