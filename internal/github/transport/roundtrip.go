package transport

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/cli/go-gh/v2/pkg/config"
)

// dialTimeout bounds the way to a host that does not answer, names included: less
// than an ingest may take, so that a pass can say what is wrong.
const dialTimeout = 10 * time.Second

// roundTripper is what lies beneath go-gh's client.
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

// overSocket sends every request to a unix socket, as go-gh does where it has its own way:
// with a connection for each.
func overSocket(path string) *http.Transport {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}
}

// overNetwork is Go's own, which knows the proxies of the environment, with the proxy's
// word for a refusal kept as a type.
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

// configuredSocket is gh's http_unix_socket; empty: none.
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
