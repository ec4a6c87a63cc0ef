package githubsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ServeUnix answers on a unix socket until Close.
func (h *Hub) ServeUnix(path string) error {
	l, err := net.Listen("unix", path) //nolint:noctx // opens at once
	if err != nil {
		return fmt.Errorf("listen on socket: %w", err)
	}
	h.serve(l)
	return nil
}

// ServeTCP answers on a loopback port until Close, and says which: host:port.
func (h *Hub) ServeTCP() (string, error) { return h.ServeAt("127.0.0.1:0") }

// ServeAt answers at an address until Close, and says which: host:port.
func (h *Hub) ServeAt(address string) (string, error) {
	l, err := net.Listen("tcp", address) //nolint:noctx // opens at once
	if err != nil {
		return "", fmt.Errorf("listen on a port: %w", err)
	}
	h.serve(l)
	return l.Addr().String(), nil
}

func (h *Hub) serve(l net.Listener) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	h.mu.Lock()
	h.servers = append(h.servers, s)
	h.mu.Unlock()
	h.serving.Go(func() { _ = s.Serve(l) }) // ends with Close
}

// Close cuts all connections. The repositories stay on disk.
func (h *Hub) Close() error {
	h.mu.Lock()
	servers := h.servers
	h.servers = nil
	h.mu.Unlock()
	h.dropHeld()
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Close())
	}
	h.serving.Wait()
	return errors.Join(errs...)
}

// maxRequest bounds what is read of a request.
const maxRequest = 8 << 20

// ServeHTTP answers one request: number it, let faults have their way, answer, log.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.gitHTTP(w, r) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return // the client went away
	}
	w.Header().Set("Date", h.now().Format(http.TimeFormat))
	rq := h.arrived(r, body)
	f := h.fault(rq)
	if f != nil && f.held != nil {
		defer close(f.held.over)
	}
	if f != nil && !h.before(r.Context(), w, rq, f) {
		return
	}
	w.Header().Set("Date", h.now().Format(http.TimeFormat)) // time has passed for what came late
	a := h.answer(r, body, rq)
	if f != nil && !h.after(w, rq, a, f) {
		return
	}
	h.answered(rq, a)
	a.send(w, r)
}

// answer is a buffered response.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func newAnswer() *answer { return &answer{status: http.StatusOK, header: http.Header{}} }

// Header is part of http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader is part of http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write is part of http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *answer) send(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead && a.status != http.StatusNotModified && a.status != http.StatusNoContent {
		_, _ = w.Write(a.body.Bytes()) // a client that went away needs no answer
	}
}

// urls are the addresses that answers are written with, taken from how the client reached us.
type urls struct {
	api string // without a trailing slash
	web string
}

// addresses gives the URL forms of github.com for api.HOST, and those of GitHub Enterprise Server
// for HOST/api/v3. Names and addresses of this machine are reached in plain HTTP; for others
// GitHub's https is kept: clients on a unix socket speak plain HTTP to it all the same.
func addresses(r *http.Request, enterprise bool) urls {
	host := r.Host
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	scheme := "https://"
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name) != nil {
		scheme = "http://"
	}
	if enterprise {
		return urls{api: scheme + host + "/api/v3", web: scheme + host}
	}
	return urls{api: scheme + host, web: scheme + strings.TrimPrefix(host, "api.")}
}

type callKey struct{}

// call is one request on its way through a handler.
type call struct {
	h      *Hub
	r      *http.Request
	viewer *user // nil when no token was sent
	urls   urls
	repo   *Repo // of routes below a repository
	body   []byte

	encoded map[*Repo]*repoJSON
	sso     string // the page of an owner that refused the token
}

// callFrom is the call that a handler's context belongs to.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// answer routes a request, holding the lock.
func (h *Hub) answer(r *http.Request, body []byte, rq *Request) *answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refresh()
	a := newAnswer()
	path, enterprise := strings.CutPrefix(r.URL.Path, "/api/v3")
	if r.URL.Path == "/api/graphql" {
		path, enterprise = "/graphql", true
	}
	c := &call{h: h, urls: addresses(r, enterprise), body: body}
	r = r.Clone(context.WithValue(r.Context(), callKey{}, c))
	r.URL.Path, r.URL.RawPath = path, strings.TrimPrefix(r.URL.RawPath, "/api/v3")
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.r = r
	a.header.Set("X-GitHub-Request-Id", fmt.Sprintf("SIM:%d", rq.N))
	viewer, e := h.authenticate(r)
	if e == nil {
		e = checkHeaders(r)
	}
	if e != nil {
		a.write(e.reply())
		return a
	}
	c.viewer = viewer
	if viewer != nil {
		h.sentBy(rq, viewer.login)
	}
	h.dispatch(c, a)
	if c.sso != "" {
		a.header.Set("X-GitHub-SSO", "required; url="+c.sso)
	}
	return a
}

// dispatch charges the limits and calls the handler.
func (h *Hub) dispatch(c *call, a *answer) {
	resource := "core"
	if c.r.URL.Path == "/graphql" {
		resource = "graphql"
	}
	b := h.bucket(c.viewer, resource)
	if b.spent() {
		b.write(a.header, resource)
		a.write(h.limitReached(c, resource))
		return
	}
	if resource == "graphql" {
		if c.viewer == nil {
			a.write(refusal(http.StatusUnauthorized, "This endpoint requires you to be authenticated.").reply())
			return
		}
		before := b.used
		h.graphqlHandler.ServeHTTP(a, c.r)
		if b.used == before {
			b.used++ // a handler that charges nothing costs one point
		}
		b.write(a.header, resource)
		return
	}
	h.rest(c, a)
	if a.conditional(c.r) {
		b.refund()
	}
	b.used++
	b.write(a.header, resource)
}

// rest lets the route answer.
func (h *Hub) rest(c *call, a *answer) {
	if path := c.r.URL.Path; len(path) > 1 && strings.HasSuffix(path, "/") {
		a.write(notFound().reply())
		return
	}
	a.write(c.run(h.router.find(c.r)))
}

// authenticate finds who sent the request: nil without a token, 401 for one that is not known.
func (h *Hub) authenticate(r *http.Request) (*user, *apiError) {
	sent := r.Header.Get("Authorization")
	if sent == "" {
		return nil, nil //nolint:nilnil // nobody, and nothing wrong with that
	}
	scheme, token, _ := strings.Cut(sent, " ")
	if u := h.byToken[strings.TrimSpace(token)]; u != nil && !u.deleted && (strings.EqualFold(scheme, "token") || strings.EqualFold(scheme, "bearer")) {
		return u, nil
	}
	return nil, refusal(http.StatusUnauthorized, "Bad credentials")
}

// checkHeaders refuses what GitHub refuses before it looks at the path.
func checkHeaders(r *http.Request) *apiError {
	if r.Header.Get("User-Agent") == "" {
		return forbidden("Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
	}
	switch v := r.Header.Get("X-GitHub-Api-Version"); v {
	case "", "2022-11-28", "2026-03-10":
		return nil
	default:
		return refusal(http.StatusBadRequest, fmt.Sprintf("\"%s\" is not a supported API version.", v))
	}
}

// moved is the answer to a request that used a repository's former name.
func (c *call) moved() reply {
	rest := c.r.URL.EscapedPath()
	for range 3 { // /repos/owner/name
		_, rest, _ = strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		rest = "/" + rest
	}
	to := fmt.Sprintf("%s/repositories/%d%s", c.urls.api, c.repo.id, strings.TrimSuffix(rest, "/"))
	if q := c.r.URL.RawQuery; q != "" {
		to += "?" + q
	}
	return c.redirect(to)
}

// redirect answers that what was asked for is at another address.
func (c *call) redirect(to string) reply {
	e := refusal(http.StatusMovedPermanently, "Moved Permanently").reply()
	e.header = http.Header{"Location": {to}}
	e.body = errorBody{Message: "Moved Permanently", URL: to, DocumentationURL: docURL}
	return e
}

// query is a parameter of the request's URL.
func (c *call) query(name string) string { return c.values().Get(name) }

func (c *call) values() url.Values { return c.r.URL.Query() }
