//go:build unix

package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest"
)

// model is many repositories of which nothing is kept but what decides who is read when: the
// program's own choice is made, and what it would ask is counted. That it counts as the
// program does is shown where both can be run.
type model struct {
	repos   []*modelRepo
	pulls   int // open ones
	fleet   fleet
	used    []int // GraphQL points of each account since the hour began
	resets  time.Time
	last    time.Time // when one of the repositories was looked at last
	costs   costs
	waiting map[int][]change // by repository
}

// fleet is machines on one database, each of which makes a pass each minute, one after the other, and
// the accounts that they are logged in with in turn.
type fleet struct{ machines, accounts int }

// alone is one machine.
var alone = fleet{1, 1}

// begins returns when a machine's pass of a minute begins.
func (f fleet) begins(machine int) time.Duration {
	return time.Duration(machine) * time.Minute / time.Duration(f.machines)
}

// account returns that of a machine.
func (f fleet) account(machine int) int { return machine % f.accounts }

// costs is what the program was seen to ask for each deed that it sees, beside pulses, lists
// and light queries.
type costs struct {
	requests float64
	points   float64
}

// points is what GitHub asks for a query: the connections in it by a hundred, at least one.
func points(connections float64) float64 { return max(1, math.Round(connections/100)) }

// What a query asks of each thing that it is about, in connections: two lists of a
// repository, and whatever hangs on a pull request.
const (
	pulseConnections  = 2
	lightConnections  = 2
	detailConnections = 60
)

type modelRepo struct {
	row           work.Repo
	issues, pulls time.Time // the newest stamps on GitHub
	all           []work.PullRequest
	pending       map[int]bool // pull requests whose checks run, on GitHub
}

// changedAt has the last change of everything be at a moment.
func (m *model) changedAt(then time.Time) {
	for _, r := range m.repos {
		r.issues, r.pulls = then, then
		r.row.Pulse.Issues, r.row.Pulse.Pulls, r.row.Pulse.Changed = then, then, then
		for k := range r.all {
			r.all[k].UpdatedAt = then
		}
	}
}

// limits of one token.
const (
	pointsAnHour     = 5000
	requestsAMinute  = 900
	reposInAQuery    = 100
	pullsInAQuery    = 50
	detailsInAQuery  = 10
	detailsAge       = 30 * time.Minute
	checksAreAwaited = time.Hour
)

func newModel(s shape, f fleet, begin time.Duration, c costs) *model {
	m := &model{costs: c, fleet: f, used: make([]int, f.accounts), waiting: map[int][]change{}, resets: daybreak.Add(begin + time.Hour)}
	for i := range s.repos {
		// How long ago something happened is in keeping with how busy it is.
		changed := daybreak.Add(begin - time.Duration(float64(time.Hour)/hourlyOf(i, s.repos)))
		r := &modelRepo{issues: changed, pulls: changed, pending: map[int]bool{}}
		r.row = work.Repo{ID: int64(i + 1), NodeID: fmt.Sprintf("R_%d", i), HeartbeatAt: daybreak.Add(begin - time.Minute)}
		r.row.Pulse = work.Pulse{At: daybreak.Add(begin - time.Minute), Issues: changed, Pulls: changed, Changed: changed}
		for k := range s.pulls {
			r.all = append(r.all, work.PullRequest{
				NodeID: fmt.Sprintf("PR_%d_%d", i, k), State: work.PullOpen, Fingerprint: "read", Rollup: "SUCCESS",
				UpdatedAt: changed.Add(-time.Duration(k) * time.Hour), DetailsAt: daybreak.Add(begin - time.Minute),
			})
		}
		m.pulls += s.pulls
		m.repos = append(m.repos, r)
	}
	return m
}

// play has a day happen, with a pass of each machine in each minute.
func (m *model) play(day []change, from, until time.Duration) *ledger {
	l := &ledger{}
	for minute := from; minute < until; minute += time.Minute {
		for machine := range m.fleet.machines {
			at := minute + m.fleet.begins(machine)
			for len(day) > 0 && day[0].at <= at {
				m.do(day[0])
				day = day[1:]
			}
			l.passes = append(l.passes, m.pass(l, machine, at))
		}
	}
	for _, some := range m.waiting {
		for _, c := range some {
			l.missed(c)
		}
	}
	return l
}

// do changes what GitHub shows.
func (m *model) do(c change) {
	r := m.repos[c.repo]
	if r.all[c.pull].State != work.PullOpen {
		return
	}
	now := daybreak.Add(c.at).Truncate(time.Second)
	switch c.what {
	case edits:
		r.issues = now
	case results:
		delete(r.pending, c.pull)
	case pushes:
		r.pulls, r.pending[c.pull] = now, true
	default:
		r.pulls = now
	}
	// What came before of the same kind is outdone: nobody can see it any more.
	kept := m.waiting[c.repo][:0]
	for _, w := range m.waiting[c.repo] {
		if same := w.pull == c.pull; !same || c.what != closes && (w.what != c.what || w.what == talks || w.what == remarks) && (w.what != results || c.what != pushes) {
			kept = append(kept, w)
		}
	}
	m.waiting[c.repo] = append(kept, c)
}

// pass is what one pass asks.
func (m *model) pass(l *ledger, machine int, at time.Duration) asks {
	now, n := daybreak.Add(at), len(m.repos)
	if !now.Before(m.resets) {
		clear(m.used)
		m.resets = m.resets.Add(time.Hour)
	}
	a := asks{at: at, account: m.fleet.account(machine)}
	spent := 0.0
	const minInterval = 10 * time.Second
	every := ingest.PulseWait(n, minInterval)
	due, unread, recent := 0, 0, 0
	all, whys := make([]ingest.PulseRepo, n), make([]ingest.ReadReason, n)
	for i, r := range m.repos {
		all[i] = ingest.PulseRepo{Row: r.row, Unread: r.unread(now)}
		if all[i].Unread {
			unread++
		}
		if now.Sub(r.row.HeartbeatAt) < time.Minute {
			recent++
		}
	}
	unreadWait := ingest.UnreadWait(unread, minInterval)
	for i, r := range m.repos {
		wait := every
		if all[i].Unread {
			wait = unreadWait
		}
		if !r.row.Pulse.At.Add(wait).After(now) {
			due++
			all[i].Shown = ingest.PulseShown{Asked: true, Known: true, Issues: r.issues, Pulls: r.pulls}
			r.row.Pulse.At = now
			if m.fleet.machines > 1 && (!r.issues.Equal(r.row.Pulse.Issues) || !r.pulls.Equal(r.row.Pulse.Pulls)) { // it is in the row for the pass that reads it
				all[i].Row.Pulse = r.row.Pulse
				r.row.Pulse.Issues, r.row.Pulse.Pulls, r.row.Pulse.Changed = r.issues, r.pulls, now
			}
		}
	}
	a.pulses = (due + reposInAQuery - 1) / reposInAQuery
	for left := due; left > 0; left -= reposInAQuery {
		spent += points(pulseConnections * float64(min(left, reposInAQuery)))
	}
	remaining := pointsAnHour - m.used[a.account] - int(spent)
	for i := range all {
		row := m.repos[i].row
		heard := m.fleet.machines > 1 && !all[i].Shown.Asked && row.Pulse.At.After(row.HeartbeatAt) && !row.HeartbeatAt.Add(minInterval).After(now)
		if heard {
			all[i].Shown = ingest.PulseShown{Asked: true, Known: true, Issues: row.Pulse.Issues, Pulls: row.Pulse.Pulls}
		}
		whys[i] = all[i].Judge(now, n)
		switch {
		case heard && row.Pulse.Changed.After(row.HeartbeatAt):
			whys[i] = ingest.Moved
		case !all[i].Shown.Asked && m.repos[i].row.HeartbeatAt.Add(unreadWait).After(now),
			whys[i] == ingest.InTurn && !ingest.Spare(remaining, m.resets, now, every, n):
			whys[i] = ingest.Quiet
		}
	}
	chosen := ingest.ChooseRepos(all, whys, ingest.Allowance(now.Sub(m.last), recent))
	asked, seen, again := 0, 0, 0
	old := m.oldest(chosen, now, ingest.OldDetails(now.Sub(m.last)))
	for _, i := range chosen {
		look := &ingest.PulseLook{Shown: all[i].Shown, Why: whys[i], Every: ingest.LightInterval(m.pulls), Old: old}
		k, s, o := m.read(l, i, look, at)
		asked, seen = asked+k, seen+s
		if o > 0 {
			again++
			spent += points(detailConnections * float64(o))
		}
	}
	a.lists = 3 * len(chosen)
	a.lights = (asked + pullsInAQuery - 1) / pullsInAQuery
	a.others = again + int(float64(seen)*m.costs.requests+0.5)
	spent += float64(a.lights)*points(lightConnections*pullsInAQuery) + float64(seen)*m.costs.points
	a.points = int(spent + 0.5)
	m.used[a.account] += a.points
	m.last = now
	return a
}

// unread: checks are waited for, for some time.
func (r *modelRepo) unread(now time.Time) bool {
	for k := range r.all {
		if p := &r.all[k]; p.State == work.PullOpen && p.Rollup == "PENDING" && now.Sub(p.UpdatedAt) < checksAreAwaited {
			return true
		}
	}
	return false
}

// oldest are the pull requests of some repositories whose details are the oldest, and may be
// read again although nothing said that they changed: as many as one query reads.
func (m *model) oldest(chosen []int, now time.Time, most int) []string {
	var old []*work.PullRequest
	for _, i := range chosen {
		for k := range m.repos[i].all {
			if p := &m.repos[i].all[k]; p.State == work.PullOpen && now.Sub(p.DetailsAt) > detailsAge {
				old = append(old, p)
			}
		}
	}
	slices.SortStableFunc(old, func(a, b *work.PullRequest) int { return a.DetailsAt.Compare(b.DetailsAt) })
	var ids []string
	for _, p := range old[:min(len(old), most)] {
		ids = append(ids, p.NodeID)
	}
	return ids
}

// read takes in what happened in a repository; it tells about how many pull requests a
// light query asks, how many deeds were seen, and how many details are read again.
func (m *model) read(l *ledger, i int, look *ingest.PulseLook, at time.Duration) (asked, deeds, again int) {
	r, now := m.repos[i], daybreak.Add(at)
	listed := map[int]bool{}
	for _, c := range m.waiting[i] {
		listed[c.pull] = listed[c.pull] || c.what.stamped() && c.what != edits
	}
	looked := map[int]bool{}
	for k := range r.all {
		if p := &r.all[k]; p.State == work.PullOpen && (listed[k] || look.IncludesPull(r.row, store.OpenPullOf(*p), now)) {
			looked[k] = true
			asked++
			if !listed[k] && slices.Contains(look.Old, p.NodeID) {
				p.DetailsAt = now
				again++
			}
		}
	}
	left := m.waiting[i][:0]
	for _, c := range m.waiting[i] {
		if c.what != talks && c.what != remarks && c.what != edits && !looked[c.pull] {
			left = append(left, c)
			continue
		}
		l.seen(c, at)
		deeds++
		r.take(c, now)
		if c.what == closes {
			m.pulls--
		}
	}
	m.waiting[i] = left
	r.row.Pulse = look.Pulse(r.row.Pulse, true, now)
	r.row.HeartbeatAt = now
	return asked, deeds, again
}

// take stores what was seen of a pull request.
func (r *modelRepo) take(c change, now time.Time) {
	p := &r.all[c.pull]
	p.DetailsAt = now
	if c.what.stamped() && c.what != edits {
		p.UpdatedAt = daybreak.Add(c.at)
	}
	p.Rollup = "SUCCESS"
	if r.pending[c.pull] {
		p.Rollup = "PENDING"
	}
	if c.what == closes {
		p.State = work.PullClosed
	}
}
