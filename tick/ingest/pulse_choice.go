// This file decides, if there are many repositories, which of them a pass reads and which of
// their pull requests it asks about: changed ones at once, quiet ones in turn. Its decisions are
// pure; the light queries of all repositories of a host are sent together.

package ingest

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// handful is how many repositories of a host are read in each pass: that is cheap and shows every
// change at once. If there are more, a pulse shows which to read.
const handful = 4

// GitHub's limits for one token, and the most that ingest takes of them, so that turns have the
// rest:
//
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
const (
	pulsePoints   = 1500 // of 5,000 GraphQL points an hour, for pulses: enough for 2,500 repositories every two minutes
	unreadPoints  = 1200 // for repositories that are read regardless of their pulse
	lightPoints   = 1200 // for light queries about quiet pull requests
	reserve       = 300  // left for changes when the points run out
	perMinute     = 600  // requests, of 900 points a minute
	leastRequests = 120  // that a pass may make however soon it follows another one
	rotationReads = 60   // repositories a minute that are read only because it is their turn
)

// The requests to read a repository: its three lists and some of what they show. The first read
// also needs its identity, its labels and its open pull requests.
const (
	requestsOfRead  = 4
	requestsOfFirst = 12
)

// perPulse and perLight are how many repositories and pull requests one query asks about. A pulse
// costs two points, a light query one.
const (
	perPulse = 100
	perLight = 50
)

// pulseInterval returns the least time between two pulses of n repositories that keeps within
// pulsePoints.
func pulseInterval(n int) time.Duration {
	points := 2 * ((n + perPulse - 1) / perPulse)
	return time.Duration(points) * time.Hour / pulsePoints
}

// PulseWait returns how long after its pulse a repository, one of n, is asked again.
func PulseWait(n int, least time.Duration) time.Duration { return max(least, pulseInterval(n)) }

// UnreadWait returns how long after its pulse a repository is read again that is read regardless of it,
// one of n such. It is asked at each read: without a pulse, a read asks about all of its pull requests.
// Passes that come more often, and those of other machines, share this time, and so do not use more than
// unreadPoints, two for the pulse of a hundred and a light query for fifty, nor more requests than
// perMinute.
func UnreadWait(n int, least time.Duration) time.Duration {
	points := 2*((n+perPulse-1)/perPulse) + (n+perLight-1)/perLight
	return max(least, time.Duration(points)*time.Hour/unreadPoints, time.Duration(n*requestsOfRead)*time.Minute/perMinute)
}

// A repository is read in every pass while it changed recently: lists lag, two changes in one
// second share a stamp, and checks have none. After that, the time between two reads grows with the
// time it was quiet.
const (
	hot    = 10 * time.Minute
	cooler = 3 // a third of the time that it was quiet
)

// rungs are the times between two reads of a quiet repository. They are few, so that its turns keep
// their moments while the quiet time grows.
var rungs = []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// readInterval returns the time between two reads of a repository, one of n, that was quiet for a
// while. 0 means that every pass reads it.
func readInterval(quiet time.Duration, n int) time.Duration {
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
		// With so many that their turns would exceed their share, turns come less often.
		most := int(longest/time.Minute) * rotationReads
		every *= time.Duration((n + most - 1) / most)
	}
	return max(every, rungs[0])
}

// LightInterval returns the time between two light queries about a quiet pull request, one of n.
func LightInterval(n int) time.Duration {
	const step, least = 15 * time.Minute, 30 * time.Minute
	needs := time.Duration((n+perLight-1)/perLight) * time.Hour / lightPoints
	return max(least, (needs+step-1)/step*step)
}

// isDue reports whether id's turn came since last. There is one turn in each span of length every,
// at a moment that depends on the id, so that many do not come at once. Such moments need no row in
// the database, and a moment that passed while no pass ran still counts in the next one.
func isDue(id string, last, now time.Time, every time.Duration) bool {
	if every <= 0 || last.IsZero() || last.After(now) {
		return true
	}
	span := every.Milliseconds()
	h := fnv.New64a()
	h.Write([]byte(id))
	phase := int64(h.Sum64() % uint64(span))
	return (now.UnixMilli()-phase)/span > (last.UnixMilli()-phase)/span
}

// ReadReason is the reason to read a repository.
type ReadReason int

// The reasons, most urgent first. First is a first read, which takes long.
const (
	Moved  ReadReason = iota // it changed since it was last read
	Unread                   // something in it is known to be unread
	Recent                   // it changed recently
	InTurn                   // no stamp is proof
	First
	Quiet // it is not read
)

// PulseRepo has what decides whether a pass reads a repository.
type PulseRepo struct {
	Row    work.Repo
	Shown  PulseShown // by the pulse of this pass
	Unread bool
}

// PulseShown is what a pulse shows of a repository.
type PulseShown struct {
	Asked         bool      // it was due, and GitHub answered
	Known         bool      // and the answer was complete
	Doubted       bool      // it has another name than the stored one, or is archived
	Viewer        bool      // the answer named our account
	Issues, Pulls time.Time // zero: there is none, or GitHub does not show it
	Err           error     // why GitHub does not
}

// moved reports whether a repository changed since it was last read in full. A stamp that went back
// is a change, too: the item changed last is gone. So is one that GitHub does not show any more.
func (s PulseShown) moved(before work.Pulse) bool {
	return s.Asked && (!s.Issues.Equal(before.Issues) || !s.Pulls.Equal(before.Pulls))
}

// Judge returns why a repository, one of n, is read now.
func (r PulseRepo) Judge(now time.Time, n int) ReadReason {
	switch {
	case r.Row.NodeID == "" || r.Row.HeartbeatAt.IsZero():
		return First
	case r.Shown.moved(r.Row.Pulse):
		return Moved
	case r.Unread, r.Shown.Doubted:
		return Unread
	case !r.Shown.Asked:
		return Quiet
	}
	quiet := now.Sub(r.Row.Pulse.Changed)
	every := readInterval(quiet, n)
	switch {
	case !isDue(r.Row.NodeID, r.Row.HeartbeatAt, now, every):
		return Quiet
	case every == 0:
		return Recent
	}
	return InTurn
}

// Allowance returns how many requests a pass may make to read repositories, since being the time
// since the last look at one, and recent how many were read within a minute, by this machine and
// others. The next pass reads those that have to wait. So few that a first read may find none among
// them are none: the next pass then has more.
func Allowance(since time.Duration, recent int) int {
	due := int(min(since, time.Minute) * perMinute / time.Minute)
	if n := max(due, min(leastRequests, perMinute-recent*requestsOfRead)); n >= 4*requestsOfFirst {
		return n
	}
	return 0
}

// OldDetails returns of how many pull requests a pass may read the details again only because they are
// old, since being the time since the last look at a repository: passes that come more often, and those of
// other machines, share the pace of one pass a minute.
func OldDetails(since time.Duration) int {
	return max(1, int(min(since, time.Minute)*github.MaxDetails/time.Minute))
}

// Spare reports whether there are points for reads that are only in turn: the rest must last for
// the pulses of n repositories until the points are reset. That counts as within an hour even if a
// clock differs, or the rotation would end.
func Spare(remaining int, resetAt, now time.Time, every time.Duration, n int) bool {
	if resetAt.IsZero() || every <= 0 {
		return true
	}
	pulses := max(0, int(min(resetAt.Sub(now), time.Hour)/every))
	return remaining >= reserve+pulses*2*((n+perPulse-1)/perPulse)
}

// ChooseRepos returns the indexes of the repositories to read with a number of requests: the most
// urgent first, among equals the one read longest ago. A quarter is kept for those in turn and for
// first reads, so that none is deferred for ever.
func ChooseRepos(all []PulseRepo, whys []ReadReason, requests int) []int {
	var urgent, patient []int
	for i, why := range whys {
		switch why {
		case Moved, Unread, Recent:
			urgent = append(urgent, i)
		case InTurn, First:
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

// Manner is how a repository is watched.
type Manner string

// The manners. Programs read their names, so they are stable.
const (
	EachPass Manner = "each pass" // it is read in each pass
	ByPulse  Manner = "pulse"     // one query for many shows whether it changed
)

// WatchManner returns how a repository, one of n of its host, is watched, and when it is looked at
// next if passes come often enough; zero means in the next pass after now.
func WatchManner(r work.Repo, n int, least time.Duration, now time.Time) (Manner, time.Time) {
	manner, last, wait := ByPulse, r.Pulse.At, PulseWait(n, least)
	if n <= handful {
		manner, last, wait = EachPass, r.HeartbeatAt, least
	}
	next := time.Time{}
	if !last.IsZero() {
		next = last.Add(wait)
	}
	if r.NotBefore.After(next) {
		next = r.NotBefore
	}
	if !next.After(now) {
		next = time.Time{}
	}
	return manner, next
}
