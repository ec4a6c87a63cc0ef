package transport

import (
	"strconv"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The two APIs, as requests are counted.
const (
	apiREST    = "rest"
	apiGraphQL = "graphql"
)

// Tally counts requests by host, API and status, and keeps what answers say of limits.
// It is safe for concurrent use.
type Tally struct {
	mu     sync.Mutex
	asked  map[work.RequestCount]int // Count is 0
	limits map[[2]string]work.RateLimit
}

// Of gives the function that counts the requests of a host's client (Options.Count).
func (t *Tally) Of(host string) func(Request) {
	return func(r Request) {
		t.count(host, r)
		t.keep(host, r)
	}
}

// OfOther is Of for the client of another account than gh's own: limits are an account's,
// and those of gh's own are what matters.
func (t *Tally) OfOther(host string) func(Request) {
	return func(r Request) { t.count(host, r) }
}

func (t *Tally) count(host string, r Request) {
	k := work.RequestCount{Host: host, API: apiREST, Status: work.NoAnswer}
	if r.GraphQL {
		k.API = apiGraphQL
	}
	if r.Status > 0 {
		k.Status = strconv.Itoa(r.Status)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked == nil {
		t.asked = map[work.RequestCount]int{}
	}
	t.asked[k]++
}

func (t *Tally) keep(host string, r Request) {
	if r.Remaining < 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limits == nil {
		t.limits = map[[2]string]work.RateLimit{}
	}
	t.limits[[2]string{host, r.Resource}] = work.RateLimit{
		Host: host, Resource: r.Resource, Remaining: r.Remaining, Most: r.Most, ResetAt: r.Reset, At: r.At,
	}
}

// Take gives what was counted since it was taken last.
func (t *Tally) Take() (asked []work.RequestCount, limits []work.RateLimit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, n := range t.asked {
		k.Count = n
		asked = append(asked, k)
	}
	for _, l := range t.limits {
		limits = append(limits, l)
	}
	t.asked, t.limits = nil, nil
	return asked, limits
}
