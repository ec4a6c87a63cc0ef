package githubsim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is one request as the log keeps it.
type Request struct {
	N           int // 1 for the first since the hub was made or ResetLog
	Method      string
	Path        string // without /api/v3
	Query       string
	Host        string
	User        string // login, "" for nobody
	Body        string
	Write       bool // it asks for a change: not GET or HEAD; of GraphQL only mutations
	Conditional bool // it carried If-None-Match
	NotModified bool // it was answered 304
	Status      int  // 0 when no answer was given (yet)
	Applied     bool // it took effect, even if the answer says otherwise
	Done        bool // false for the hook's call before it is handled

	http *http.Request
}

// Sent is the request as it came, without its body, which is in Body.
func (r Request) Sent() *http.Request { return r.http }

// traffic is the log of requests and the faults that strike them. It has its own lock: a slow
// request must not hold up the log.
type traffic struct {
	mu      sync.Mutex
	count   int
	log     []*Request
	faults  []*Fault
	held    []*hold // in the order of their orders, until they are released
	onEvent func(Request)
}

// OnRequest sets a hook that is called before each request is handled (Done false) and once its
// answer is known (Done true), outside of all locks. nil takes it away.
func (h *Hub) OnRequest(hook func(Request)) {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	h.onEvent = hook
}

// Requests is the log since the last reset.
func (h *Hub) Requests() []Request {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	out := make([]Request, len(h.log))
	for i, rq := range h.log {
		out[i] = *rq
	}
	return out
}

// ForgetRequests takes the requests that concern the repository out of the log.
func (r *Repo) ForgetRequests() {
	h, below := r.hub, r.below()
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	h.log = slices.DeleteFunc(h.log, func(rq *Request) bool { return r.concerns(below, rq) })
}

// ResetLog empties the log and numbers requests from 1 again.
func (h *Hub) ResetLog() {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	h.log, h.count = nil, 0
}

// Unknown lists the requests that no route answers, as "METHOD path", and what kept the deeds of
// faults from being done. Tests fail on any.
func (h *Hub) Unknown() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.unknown)
}

// arrived numbers a request and logs it.
func (h *Hub) arrived(r *http.Request, body []byte) *Request {
	rq := &Request{
		Method: r.Method, Path: strings.TrimPrefix(r.URL.Path, "/api/v3"), Query: r.URL.RawQuery, Host: r.Host, Body: string(body),
		Conditional: r.Header.Get("If-None-Match") != "", http: r,
	}
	if rq.Path == "/api/graphql" {
		rq.Path = "/graphql"
	}
	rq.Write = r.Method != http.MethodGet && r.Method != http.MethodHead
	if rq.Path == "/graphql" {
		rq.Write = isMutation(rq.Body)
	}
	h.traffic.mu.Lock()
	h.count++
	rq.N = h.count
	h.log = append(h.log, rq)
	hook, seen := h.onEvent, *rq
	h.traffic.mu.Unlock()
	if hook != nil {
		hook(seen)
	}
	return rq
}

// isMutation tells a GraphQL mutation by the query's first word.
func isMutation(body string) bool {
	var in struct{ Query string }
	if json.Unmarshal([]byte(body), &in) != nil {
		return false
	}
	text := strings.TrimSpace(in.Query)
	for strings.HasPrefix(text, "#") { // a comment
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(text)
	}
	return strings.HasPrefix(text, "mutation")
}

// sentBy notes in the log who sent a request.
func (h *Hub) sentBy(rq *Request, login string) {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	rq.User = login
}

// answered completes the log's entry.
func (h *Hub) answered(rq *Request, a *answer) {
	h.conclude(rq, a, a.status >= 200 && a.status < 300)
}

// conclude is answered for a request whose answer does not tell whether it took effect.
func (h *Hub) conclude(rq *Request, a *answer, applied bool) {
	h.traffic.mu.Lock()
	rq.Status, rq.Done = a.status, true
	rq.NotModified = a.status == http.StatusNotModified
	rq.Applied = applied
	hook, seen := h.onEvent, *rq
	h.traffic.mu.Unlock()
	if hook != nil {
		hook(seen)
	}
}
