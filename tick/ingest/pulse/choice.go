package pulse

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Handful is how many repositories of a host are read in each pass: that is cheap, and shows
// everything at once. Of more than these a pulse says which are read.
const Handful = 4

// GitHub's limits for one token, and what of them this takes at most, so that turns have the
// rest: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	pulsePoints   = 1500 // of 5,000 GraphQL points an hour, for pulses: of 2,500 repositories one in two minutes
	lightPoints   = 1200 // for light queries that nothing but their turn asks for
	reserve       = 300  // left to what changed, when the allowance runs out
	perMinute     = 600  // requests, of 900 points a minute
	leastRequests = 120  // that a pass may make however soon it comes after another one
	rotationReads = 60   // repositories a minute that are read only since it is their turn
)

// What reading a repository costs in requests: its three lists and something of what they
// show; and at first sight also who it is, its labels and its open pull requests.
const (
	requestsOfRead  = 4
	requestsOfFirst = 12
)

// perPulse and perLight are how many repositories and pull requests one query asks about;
// a pulse costs two points, a light query one.
const (
	perPulse = 100
	perLight = 50
)

// Interval is the least time between two pulses of n repositories: their points are to last.
func Interval(n int) time.Duration {
	points := 2 * ((n + perPulse - 1) / perPulse)
	return time.Duration(points) * time.Hour / pulsePoints
}

// Wait is how long after its pulse a repository, one of n, is asked for the next one. One that
// is read anyway is asked as often as it is read: without a pulse all of its pull requests
// would be asked about.
func Wait(n int, anyway bool, least time.Duration) time.Duration {
	if anyway {
		return least
	}
	return max(least, Interval(n))
}

// A repository is read in every pass while it changed shortly before: lists lag, two changes
// of one second share a stamp, and checks have none. After that the time between two reads
// grows with the time that it was quiet.
const (
	hot    = 10 * time.Minute
	cooler = 3 // a third of the time that it was quiet
)

// rungs are the times between two reads of a repository: few, so that its turns stay where
// they are while the time that it was quiet grows.
var rungs = []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// Every is the time between two reads of a repository that did not change for some time, one
// of n; 0: it is read in every pass.
func Every(quiet time.Duration, n int) time.Duration {
	if quiet < hot {
		return 0
	}
	every := rungs[0]
	for _, r := range rungs {
		if r <= quiet/cooler {
			every = r
		}
	}
	if longest := rungs[len(rungs)-1]; every == longest {
		// So many that their turns would take more than their share come less often.
		most := int(longest/time.Minute) * rotationReads
		every *= time.Duration((n + most - 1) / most)
	}
	return max(every, rungs[0])
}

// EveryLight is the time between two light queries about a quiet pull request, one of n.
func EveryLight(n int) time.Duration {
	const step, least = 15 * time.Minute, 30 * time.Minute
	needs := time.Duration((n+perLight-1)/perLight) * time.Hour / lightPoints
	return max(least, (needs+step-1)/step*step)
}

// Turn reports whether something's turn came since it was looked at last: one comes in each
// span of that length, for each id at its own moment, so that many do not come at once. That
// needs no row, and no turn is lost while nobody looks.
func Turn(id string, last, now time.Time, every time.Duration) bool {
	if every <= 0 || last.IsZero() || last.After(now) {
		return true
	}
	span := every.Milliseconds()
	h := fnv.New64a()
	h.Write([]byte(id))
	phase := int64(h.Sum64() % uint64(span))
	return (now.UnixMilli()-phase)/span > (last.UnixMilli()-phase)/span
}

// Why says why a repository is read.
type Why int

// The reasons, the most urgent first. First is a first look, which is long.
const (
	Moved  Why = iota // it changed since it was read last
	Unread            // something of it is known to be unread
	Recent            // it changed shortly before
	InTurn            // no stamp is proof
	Hidden            // GitHub does not say whether it changed
	First
	Quiet // it is not read
)

// Repo is what is known of a repository when a pass decides whether to read it.
type Repo struct {
	Row    work.Repo
	Shown  Shown // by the pulse of this pass
	Unread bool
}

// Shown is what a pulse shows of a repository.
type Shown struct {
	Asked         bool   // it was due, and GitHub answered
	Known         bool   // and said all of it
	Hidden        string // why it does not, where it hides the repository from this account
	Doubted       bool   // it has another name than was known, or is archived
	Viewer        bool   // it said who we are
	Issues, Pulls time.Time
}

// Moved reports whether a repository changed since it was read in full. A stamp that went
// back tells of something, too: what was changed last is gone.
func (s Shown) Moved(before work.Pulse) bool {
	return s.Known && (!s.Issues.Equal(before.Issues) || !s.Pulls.Equal(before.Pulls))
}

// Judge says why a repository is read now, one of n.
func (r Repo) Judge(now time.Time, n int) Why {
	switch {
	case r.Row.NodeID == "" || r.Row.HeartbeatAt.IsZero():
		return First
	case r.Shown.Moved(r.Row.Pulse):
		return Moved
	case r.Unread, r.Shown.Doubted:
		return Unread
	case !r.Shown.Asked:
		return Quiet
	case !r.Shown.Known:
		return Hidden
	}
	quiet := now.Sub(r.Row.Pulse.Changed)
	every := Every(quiet, n)
	switch {
	case !Turn(r.Row.NodeID, r.Row.HeartbeatAt, now, every):
		return Quiet
	case every == 0:
		return Recent
	}
	return InTurn
}

// Allowance is how many requests a pass may make to read repositories, some time after one
// was looked at last. Those that have to be late are read by the next pass.
func Allowance(since time.Duration) int {
	return max(leastRequests, int(min(since, time.Minute)*perMinute/time.Minute))
}

// Spare reports whether there are points to read what only has its turn: what is left must
// last for the pulses of n repositories until the allowance begins again: within an hour,
// whatever a clock says, or rotation would end.
func Spare(remaining int, resetAt, now time.Time, every time.Duration, n int) bool {
	if resetAt.IsZero() || every <= 0 {
		return true
	}
	pulses := max(0, int(min(resetAt.Sub(now), time.Hour)/every))
	return remaining >= reserve+pulses*2*((n+perPulse-1)/perPulse)
}

// Choose gives the places of those that are read with a number of requests: the most urgent
// first, of those alike the one that was read longest ago. A quarter is kept for those whose
// turn it is and for first looks, so that nothing is put off for ever.
func Choose(all []Repo, whys []Why, requests int) []int {
	var urgent, patient []int
	for i, why := range whys {
		switch why {
		case Moved, Unread, Recent:
			urgent = append(urgent, i)
		case InTurn, Hidden, First:
			patient = append(patient, i)
		case Quiet:
		}
	}
	byUrgency := func(a, b int) int {
		return cmp.Or(cmp.Compare(whys[a], whys[b]), all[a].Row.HeartbeatAt.Compare(all[b].Row.HeartbeatAt), cmp.Compare(a, b))
	}
	slices.SortFunc(urgent, byUrgency)
	slices.SortFunc(patient, byUrgency)
	take := func(from []int, most int) (taken, left []int) {
		for i, at := range from {
			cost := requestsOfRead
			if whys[at] == First {
				cost = requestsOfFirst
			}
			if cost > most {
				return from[:i], from[i:]
			}
			most, requests = most-cost, requests-cost
		}
		return from, nil
	}
	first, late := take(urgent, requests-requests/4)
	second, _ := take(patient, requests)
	third, _ := take(late, requests)
	return slices.Concat(first, second, third)
}
