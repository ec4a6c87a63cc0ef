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

// roundTripper is Go's own, which knows the proxies of the environment, with the
// proxy's word for a refusal kept as a type. It is nil where requests go to gh's
// socket: go-gh has that one.
func roundTripper(o Options) http.RoundTripper {
	plain, ok := http.DefaultTransport.(*http.Transport)
	if o.Socket != "" || configuredSocket() != "" || !ok {
		return nil
	}
	t := plain.Clone()
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
