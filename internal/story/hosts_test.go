//go:build unix

package story

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// hosts answers on the world's socket for every GitHub host of the world: all that
// gh asks goes there.
type hosts struct {
	server *http.Server
	served chan struct{}
	main   *githubsim.Hub
	other  *githubsim.Hub // nil until a story makes it
	name   string         // of the other host
}

func serveHosts(socket string, main *githubsim.Hub) (*hosts, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen on the world's socket: %w", err)
	}
	h := &hosts{main: main, served: make(chan struct{})}
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(h.served)
		_ = h.server.Serve(l) // ends with Close
	}()
	return h, nil
}

// ServeHTTP has the host answer that is asked.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.other != nil && strings.EqualFold(r.Host, h.name) {
		h.other.ServeHTTP(w, r)
		return
	}
	h.main.ServeHTTP(w, r)
}

func (h *hosts) close() error {
	err := h.server.Close()
	<-h.served
	if h.other != nil {
		err = errors.Join(err, h.other.Close())
	}
	return err
}

// cmdOtherHost makes a second GitHub host, with an octo/app and people of its own.
func cmdOtherHost(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	if neg || len(args) != 1 || w.hosts.other != nil {
		ts.Fatalf("usage: other-host NAME, once")
	}
	hub, err := githubsim.New(githubsim.Options{Dir: filepath.Join(w.work, "otherhub"), Now: w.clock.Now})
	ts.Check(err)
	ts.Check(populate(hub))
	w.hosts.name, w.hosts.other = args[0], hub
}
