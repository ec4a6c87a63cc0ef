//go:build unix

package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// deed is what people and machines do on GitHub.
type deed int

const (
	talks   deed = iota // a comment in the conversation of a pull request
	remarks             // one on its diff
	pushes              // commits; checks begin
	results             // the checks end, which moves no stamp
	edits               // an issue is edited
	closes              // a pull request is closed
)

func (d deed) String() string {
	return [...]string{"comment", "review comment", "push", "check result", "edited issue", "closed pull request"}[d]
}

// stamped tells whether GitHub's updatedAt shows it.
func (d deed) stamped() bool { return d != results }

// change is one deed.
type change struct {
	at   time.Duration // since the day began
	repo int
	pull int // in its repository, from 0
	what deed
}

// nature is how busy a share of the repositories is in daylight.
type nature struct {
	share  float64
	hourly float64 // deeds
}

// natures: a few repositories are busy all day, most see something once in ten days.
var natures = []nature{{0.02, 15}, {0.10, 2}, {0.30, 0.2}, {0.58, 0.004}}

// hourlyOf is how busy a repository is: the first ones are the busiest.
func hourlyOf(repo, repos int) float64 {
	at := (float64(repo) + 0.5) / float64(repos)
	for _, n := range natures {
		if at < n.share {
			return n.hourly
		}
		at -= n.share
	}
	return natures[len(natures)-1].hourly
}

// daylight is how much of a full day's bustle there is at an hour.
func daylight(at time.Duration) float64 {
	switch hour := int(at.Hours()) % 24; {
	case hour >= 8 && hour < 19:
		return 1
	case hour >= 6 && hour < 23:
		return 0.5
	}
	return 0.1
}

// dayOf is what happens in repositories with as many pull requests each, between two hours
// of a day, in order.
func dayOf(random *rand.Rand, s shape, from, until time.Duration) []change {
	var all []change
	for repo := range s.repos {
		hourly := hourlyOf(repo, s.repos)
		for at := from; ; {
			at += time.Duration(random.ExpFloat64() / hourly * float64(time.Hour))
			if at >= until {
				break
			}
			if random.Float64() < daylight(at) {
				all = append(all, deedsAt(random, change{at: at, repo: repo, pull: busyPull(random, s.pulls)})...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(c change) bool { return c.at >= until })
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}

// busyPull: people work on a few pull requests of many.
func busyPull(random *rand.Rand, pulls int) int {
	return int(math.Pow(random.Float64(), 3) * float64(pulls))
}

// deedsAt is one deed, and what follows of it.
func deedsAt(random *rand.Rand, c change) []change {
	switch x := random.Float64(); {
	case x < 0.40:
		c.what = talks
	case x < 0.55:
		c.what = remarks
	case x < 0.85:
		c.what = pushes
		end := c
		end.at += 2*time.Minute + time.Duration(random.Float64()*float64(13*time.Minute))
		end.what = results
		return []change{c, end}
	case x < 0.97:
		c.what = edits
	default:
		c.what = closes
	}
	return []change{c}
}

// ledger counts what passes ask of GitHub, and how late they see what happens.
type ledger struct {
	passes []asks
	late   map[deed][]time.Duration
	unseen map[deed]int
}

// asks is what one pass asks of GitHub.
type asks struct {
	at      time.Duration
	account int
	pulses  int // queries that say which repositories moved
	lists   int // of repositories
	lights  int // queries about pull requests
	others  int
	points  int // of GraphQL
	writes  int
}

func (a asks) requests() int { return a.pulses + a.lists + a.lights + a.others }

// weight is what the secondary limit counts.
func (a asks) weight() int { return a.requests() + 4*a.writes }

// seen notes that a change is in the database.
func (l *ledger) seen(c change, at time.Duration) {
	if l.late == nil {
		l.late = map[deed][]time.Duration{}
	}
	l.late[c.what] = append(l.late[c.what], at-c.at)
}

// missed notes that a change is not in the database when the time is over.
func (l *ledger) missed(c change) {
	if l.unseen == nil {
		l.unseen = map[deed]int{}
	}
	l.unseen[c.what]++
}

// busiestMinute and busiestHour are what the limits are compared with.
func (l *ledger) busiestMinute() int { return l.busiest(time.Minute, asks.weight) }

func (l *ledger) busiestHour() int { return l.busiest(time.Hour, func(a asks) int { return a.points }) }

// busiest adds up what one account was asked for in each span of that length, of those that follow
// one another since the first pass: so do GitHub's allowances.
func (l *ledger) busiest(span time.Duration, of func(asks) int) int {
	sums := map[period]int{}
	most := 0
	for _, a := range l.passes {
		p := period{a.account, (a.at - l.passes[0].at) / span}
		sums[p] += of(a)
		most = max(most, sums[p])
	}
	return most
}

// period is a span of an account.
type period struct {
	account int
	nth     time.Duration
}

// sum adds up all passes.
func (l *ledger) sum() (total asks) {
	for _, a := range l.passes {
		total.pulses += a.pulses
		total.lists += a.lists
		total.lights += a.lights
		total.others += a.others
		total.points += a.points
		total.writes += a.writes
	}
	return total
}

// latencies are those of deeds of one sort, in order.
func (l *ledger) latencies(stamped bool) []time.Duration {
	var all []time.Duration
	for what, late := range l.late {
		if what.stamped() == stamped {
			all = append(all, late...)
		}
	}
	slices.Sort(all)
	return all
}

// lost counts what was not seen.
func (l *ledger) lost(stamped bool) (n int) {
	for what, times := range l.unseen {
		if what.stamped() == stamped {
			n += times
		}
	}
	return n
}

// quantile of durations in order; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (l *ledger) String() string {
	var b strings.Builder
	s, n := l.sum(), max(1, len(l.passes))
	fmt.Fprintf(&b, "%d passes; a pass asks %.1f: %.1f pulses, %.1f lists, %.1f light queries, %.1f others; %.1f points\n", len(l.passes), float64(s.requests())/float64(n),
		float64(s.pulses)/float64(n), float64(s.lists)/float64(n), float64(s.lights)/float64(n), float64(s.others)/float64(n), float64(s.points)/float64(n))
	for what := talks; what <= closes; what++ {
		late := slices.Sorted(slices.Values(l.late[what]))
		fmt.Fprintf(&b, "%20s: %5d seen, after %s in the middle, %s of 99 in 100, %s at most; %d not\n", what, len(late),
			quantile(late, 0.5).Round(time.Second), quantile(late, 0.99).Round(time.Second), quantile(late, 1).Round(time.Second), l.unseen[what])
	}
	return b.String()
}
