package transport

import (
	"strconv"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// API names in request counts.
const (
	apiREST    = "rest"
	apiGraphQL = "graphql"
)

// Tally counts requests by host, API and status, and keeps the limits in answers. It is safe for
// concurrent use.
type Tally struct {
	mu     sync.Mutex
	asked  map[work.RequestCount]int // Count is 0
	limits map[[2]string]work.RateLimit
}

// Of returns an Options.Count function for a host's client.
func (t *Tally) Of(host string) func(Request) {
	return func(r Request) {
		t.count(host, r)
		t.keep(host, r)
	}
}

// OfOther returns a function that counts the requests of a client with another account than gh's.
// It ignores rate limits: they are per account, and only the limits of gh's account matter.
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

// Take returns the counts and limits since the last Take.
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
