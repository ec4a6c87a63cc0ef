//go:build unix

package crashtest

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// place is what is counted on the way to a point.
type place string

const (
	atRequest   place = "request"    // to GitHub
	atWrite     place = "write"      // a request that changes something
	atGit       place = "git"        // a call of git
	atGitChange place = "git-change" // one that changes something
	atRemote    place = "remote"     // one that talks to the remote
	atAgent     place = "agent"      // a start of the agent
	atAnswer    place = "answer"     // an answer that the tool has accepted
	atSetup     place = "setup"      // a start of the set-up
	atStatement place = "statement"  // a flight to the database
	atIntent    place = "intent"     // a stored intent to send: what is next is the request
	atAsked     place = "asked"      // an answer that the session is alive
	atTime      place = "ms"         // milliseconds after the pass began
)

// moment is when at that place it strikes.
type moment string

const (
	before moment = "before" // it has no effect
	after  moment = "after"  // it has had its effect, and nobody was told
)

// deed is what strikes there.
type deed string

const (
	actKill   deed = "kill"   // SIGKILL to the pass
	actLose   deed = "lose"   // the connection breaks
	actRefuse deed = "refuse" // 502
	actLag    deed = "lag"    // like lose, and lists do not show at first what was made
	actLate   deed = "late"   // like kill, and lists do not show for some seconds what was made
	actCrowd  deed = "crowd"  // n passes at once, and nothing strikes
	actMeet   deed = "meet"   // other passes are made while the agent works

	actCut      deed = "cut"      // the machine's connections to the database break
	actStop     deed = "stop"     // SIGSTOP, until the session is ended and others have done the work
	actRouse    deed = "rouse"    // the same, until the agent of another works
	actRestart  deed = "restart"  // the server is killed, and starts again
	actFailover deed = "failover" // to a replica that lacks the last flights
	actFull     deed = "full"     // the server's disk, until the pass has ended
	actFew      deed = "few"      // the server allows n connections
	actSlow     deed = "slow"     // n milliseconds to the database and back
)

// hitsDatabase tells of a deed that is done to the database or to the way to it.
func (d deed) hitsDatabase() bool {
	return slices.Contains([]deed{actCut, actStop, actRouse, actRestart, actFailover, actFull, actFew, actSlow}, d)
}

// How long lists do not show what was made: so many reads of a list, or until
// GitHub's clock has moved on.
const (
	unlisted = 3
	late     = 20 * time.Second
)

// What a death takes along, in state_dir.
const (
	database   = "state.db"
	wholeState = "."
)

// point is one thing that happens to a scenario.
type point struct {
	act  deed
	at   place
	n    int
	when moment
	gone string // what is deleted while no pass lives: database or wholeState
	lag  bool   // lists do not show at first what was made before the kill
	less int    // how many flights a replica lacks
	then *point // strikes in a later pass
}

var losing = map[string]string{database: "-database-gone", wholeState: "-state-gone"}

func (p point) String() string {
	s := fmt.Sprintf("%s-%s-%d-%s%s", p.act, p.at, p.n, p.when, losing[p.gone])
	if p.at == "" {
		s = fmt.Sprintf("%s-%d", p.act, p.n)
	}
	if p.less > 0 {
		s += fmt.Sprintf("-less-%d", p.less)
	}
	if p.lag {
		s += "-lag"
	}
	if p.then != nil {
		s += "+" + p.then.String()
	}
	return s
}

// pointName names a point among those of all scenarios. One that is run again by its name tells of
// git's calls all along; to count them makes a run a third longer.
func (s scenario) pointName(p point) string { return slug(s.name) + "/" + p.String() }

// hides tells of a point at which lists do not show at first what was made: then it may be made twice.
func (p point) hides() bool { return p.lag || p.act == actLag || p.act == actLate }

// noGit tells of a point that strikes at a request or at the agent, so that no call of git need be
// counted.
func (p point) noGit() bool {
	return p.act.hitsDatabase() || slices.Contains([]place{atRequest, atWrite, atAgent, atAnswer, atSetup, atStatement, atIntent, atAsked}, p.at)
}

var pointNames = regexp.MustCompile(`^([a-z]+)-(?:([a-z]+(?:-[a-z]+)?)-)?(\d+)(?:-(before|after))?(?:-(database|state)-gone)?(?:-less-(\d+))?(-lag)?$`)

// parsePoint reads what String wrote.
func parsePoint(name string) (p point, err error) {
	name, then, more := strings.Cut(name, "+")
	m := pointNames.FindStringSubmatch(name)
	if m == nil {
		return p, fmt.Errorf("%q is no point, such as kill-git-12-before", name)
	}
	p = point{act: deed(m[1]), at: place(m[2]), when: moment(m[4]), gone: map[string]string{"database": database, "state": wholeState}[m[5]], lag: m[7] != ""}
	p.less, _ = strconv.Atoi(m[6])
	if p.n, err = strconv.Atoi(m[3]); err != nil || !more {
		return p, err
	}
	second, err := parsePoint(then)
	p.then = &second
	return p, err
}

// kinds of points, each a line of its own in the table.
const (
	kindKill     = "kill"
	kindLost     = "answer lost, 502, lists lag"
	kindDatabase = "kill, database deleted"
	kindState    = "kill, state deleted"
	kindTwice    = "two kills"
	kindTime     = "kill at some ms"
	kindCrowd    = "20 passes at once"
	kindMeet     = "passes during the turn"
	kindSends    = "fleet: cut or stopped right before it sends"
)

func (p point) kind() string {
	switch {
	case p.act == actCrowd:
		return kindCrowd
	case p.act == actMeet:
		return kindMeet
	case p.at == atIntent, p.at == atAsked:
		return kindSends
	case p.act.hitsDatabase():
		return kindsOfFleet[p.act]
	case p.act != actKill, p.lag:
		return kindLost
	case p.gone == wholeState:
		return kindState
	case p.gone == database:
		return kindDatabase
	case p.then != nil:
		return kindTwice
	case p.at == atTime:
		return kindTime
	}
	return kindKill
}

// kills are the places where one pass can die, and how many crash points they
// stand for: before each request, call of git and run of the agent, after it is
// applied, and after it is answered. Answered is before the next; and what only
// reads leaves the world the same, so dying after it is dying before it. Neither
// is run again.
func kills(c counts) (points []point, enumerated int) {
	add := func(at place, when moment, n int) {
		points = append(points, upTo(n, point{act: actKill, at: at, when: when})...)
	}
	add(atRequest, before, c.requests)
	add(atWrite, after, c.writes)
	add(atGit, before, c.git)
	add(atGitChange, after, c.gitChanges)
	add(atAgent, before, c.agents)
	add(atAgent, after, c.agents)
	add(atAnswer, after, c.answers)
	add(atSetup, before, c.setups)
	add(atSetup, after, c.setups)
	return points, 3*(c.requests+c.git+c.agents+c.setups) + c.answers
}

// upTo are n points of a kind, from the first to the nth.
func upTo(n int, p point) (points []point) {
	for p.n = 1; p.n <= n; p.n++ {
		points = append(points, p)
	}
	return points
}

// faults are lost answers and refusals in place of kills, and lists that lag
// after them and after kills.
func faults(c counts) (points []point) {
	points = append(points, upTo(c.writes, point{act: actKill, at: atWrite, when: after, lag: true})...)
	for _, act := range []deed{actLose, actLag, actLate, actRefuse} {
		points = append(points, upTo(c.writes, point{act: act, at: atWrite, when: after})...)
	}
	for _, act := range []deed{actLose, actRefuse} {
		points = append(points, upTo(c.requests, point{act: act, at: atRequest, when: before})...)
	}
	for _, when := range []moment{before, after} {
		points = append(points, upTo(c.remotes, point{act: actLose, at: atRemote, when: when})...)
	}
	return points
}

// overlaps are passes that are made while the agent works. Of passes that start
// at once, most find nothing left to claim.
func overlaps(c counts) []point {
	return upTo(c.agents, point{act: actMeet, at: atAgent, when: before})
}

// losses are kills after which a part of the state is gone.
func losses(c counts, gone string) []point {
	points, _ := kills(c)
	return without(points, gone)
}

// without are kills that take a part of the state along.
func without(points []point, gone string) []point {
	points = slices.Clone(points)
	for i := range points {
		points[i].gone = gone
	}
	return points
}

// twice is a kill and another in the first half of what a run that is not killed
// does after that place: so much, at least, is then left to do.
func twice(c counts, r *rand.Rand) point {
	once, _ := kills(c)
	total := map[place]int{atRequest: c.requests, atWrite: c.writes, atGit: c.git, atGitChange: c.gitChanges, atAgent: c.agents, atAnswer: c.answers, atSetup: c.setups}
	for {
		first := once[r.IntN(len(once))]
		left := total[first.at] - first.n
		if first.when == before {
			left++
		}
		if left > 1 { // what the first death came after may not be done again
			first.then = &point{act: actKill, at: first.at, when: first.when, n: 1 + r.IntN((left+1)/2)}
			return first
		}
	}
}

// slug makes a word of a name for `go test -run`.
func slug(s string) string { return strings.ReplaceAll(s, " ", "-") }

// TestPointNames reads back what a failure prints.
func TestPointNames(t *testing.T) {
	c := counts{requests: 2, writes: 2, git: 2, gitChanges: 2, remotes: 2, agents: 2, answers: 2, setups: 2}
	r := rand.New(rand.NewPCG(1, 1))
	for _, want := range more(outcome{counts: c}, r, -1) {
		got, err := parsePoint(want.String())
		if err != nil || got.String() != want.String() || got.kind() != want.kind() {
			t.Errorf("%s: read as %+v, %v", want, got, err)
		}
	}
}
