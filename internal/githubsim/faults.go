package githubsim

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Fault is something that goes wrong with matching requests. The zero matchers match everything.
type Fault struct {
	Method   string // GET, POST, …; "WRITE" for every request that changes something, with GraphQL mutations
	Path     string // of the request without /api/v3; * stands for anything
	Contains string // part of the request's body
	Request  int    // only the request with this number
	Nth      int    // the first matching request that it hits, counted from 1; 0 is 1
	Repo     *Repo  // only requests below its path, or that name something of it; nil: all
	Always   bool   // it also hits all later ones; otherwise it is gone after one

	Do      func() error  // is done first, as somebody else's deed between two requests; what it says is among Unknown
	Applied bool          // the request takes effect before things go wrong
	Drop    bool          // the connection is closed instead of answering
	Delay   time.Duration // before it continues; with nothing else set, the answer is merely late
	Status  int           // answered instead; 0 leaves the answer alone
	Body    string        // with Status; "" is GitHub's JSON for it
	Header  http.Header   // with Status

	held  *hold // by Hold
	seen  int
	over  bool
	path  *regexp.Regexp
	below string // the path of Repo
}

// LoseAnswer closes the connection after the request was applied.
func LoseAnswer() Fault { return Fault{Applied: true, Drop: true} }

// LoseRequest closes the connection before the request was applied.
func LoseRequest() Fault { return Fault{Drop: true} }

// HTML answers 200 with a page instead of JSON.
func HTML() Fault {
	return Fault{Status: http.StatusOK, Body: "<html><body>Unicorn!</body></html>", Header: http.Header{"Content-Type": {"text/html"}}}
}

// Secondary answers with the secondary rate limit and a Retry-After.
func Secondary(wait time.Duration) Fault {
	return Fault{
		Status: http.StatusForbidden,
		Body:   `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"}`,
		Header: http.Header{"Retry-After": {strconv.Itoa(int(wait / time.Second))}},
	}
}

// Endless answers with an empty list that names a next page, at any page.
func Endless() Fault {
	return Fault{Status: http.StatusOK, Body: "[]", Header: http.Header{"Link": {`<?page=2>; rel="next"`}}}
}

// Redirect answers 301 to another place.
func Redirect(location string) Fault {
	return Fault{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {location}}}
}

// AddFault orders a fault. Of several that match a request, the one ordered first strikes.
func (h *Hub) AddFault(f Fault) {
	if f.Path != "" {
		f.path = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(f.Path), `\*`, ".*") + "$")
	}
	if f.Repo != nil {
		f.below = f.Repo.below()
	}
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	h.faults = append(h.faults, &f)
}

// ClearFaults takes all orders back.
func (h *Hub) ClearFaults() {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	h.faults = nil
}

// PendingFaults counts the orders that can still strike.
func (h *Hub) PendingFaults() int {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	n := 0
	for _, f := range h.faults {
		if !f.over {
			n++
		}
	}
	return n
}

// fault finds the fault that strikes a request.
func (h *Hub) fault(rq *Request) *Fault {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	for _, f := range h.faults {
		if f.over || !f.matches(rq) {
			continue
		}
		f.seen++
		if f.seen < f.Nth {
			continue
		}
		f.over = !f.Always
		return f
	}
	return nil
}

func (f *Fault) matches(rq *Request) bool {
	switch {
	case f.Request != 0 && f.Request != rq.N,
		f.Method == "WRITE" && !rq.Write,
		f.Method != "" && f.Method != "WRITE" && !strings.EqualFold(f.Method, rq.Method),
		f.Repo != nil && !f.Repo.concerns(f.below, rq),
		f.path != nil && !f.path.MatchString(rq.Path),
		f.Contains != "" && !strings.Contains(rq.Body, f.Contains):
		return false
	}
	return true
}

// before does what strikes a request before it takes effect; false when that ends it.
func (h *Hub) before(ctx context.Context, w http.ResponseWriter, rq *Request, f *Fault) bool {
	if f.held != nil && !f.held.stop() {
		return h.strike(w, rq, nil, &Fault{Drop: true})
	}
	if f.Do != nil {
		h.interpose(rq, f.Do)
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
		}
	}
	if f.Applied {
		return true
	}
	return h.strike(w, rq, nil, f)
}

// interpose does a deed of somebody else's before a request takes effect.
func (h *Hub) interpose(rq *Request, deed func() error) {
	if err := deed(); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unknown = append(h.unknown, fmt.Sprintf("before %s %s: %v", rq.Method, rq.Path, err))
	}
}

// after does what strikes a request that has taken effect; false when that ends it.
func (h *Hub) after(w http.ResponseWriter, rq *Request, a *answer, f *Fault) bool {
	if !f.Applied {
		return true
	}
	return h.strike(w, rq, a, f)
}

// strike drops the connection or answers with something else; true when the fault is a mere delay.
func (h *Hub) strike(w http.ResponseWriter, rq *Request, a *answer, f *Fault) bool {
	if !f.Drop && f.Status == 0 {
		return true
	}
	applied := a != nil && a.status < 300
	if f.Drop {
		h.conclude(rq, &answer{}, applied)
		panic(http.ErrAbortHandler) // net/http's way to close the connection without an answer
	}
	out := newAnswer()
	out.write(refusal(f.Status, http.StatusText(f.Status)).reply())
	if f.Body != "" {
		out.body.Reset()
		out.body.WriteString(f.Body)
	}
	maps.Copy(out.header, f.Header)
	h.conclude(rq, out, applied)
	out.send(w, rq.http)
	return false
}
