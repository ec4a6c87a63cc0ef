package ingest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

var midday = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func minutes(from, to int) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, "minutes")) * time.Minute
	})
}

// Pulses of any number of repositories keep to their share of an hour's points, and reads of the
// quiet ones in turn to their share of requests.
func TestPropertyPulsesAndTurnsKeepToTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20_000).Draw(t, "repositories")
		if points := float64(2*((n+99)/100)) * float64(time.Hour) / float64(pulseInterval(n)); points > pulsePoints+1 {
			t.Errorf("%.0f points an hour for pulses of %d repositories", points, n)
		}
		if reads := float64(n) * float64(time.Minute) / float64(readInterval(30*24*time.Hour, n)); reads > rotationReads {
			t.Errorf("%.0f of %d repositories are read a minute in turn", reads, n)
		}
		pulls := rapid.IntRange(0, 1_000_000).Draw(t, "pull requests")
		if points := float64((pulls+49)/50) * float64(time.Hour) / float64(LightInterval(pulls)); points > lightPoints {
			t.Errorf("%.0f points an hour for light queries about %d pull requests", points, pulls)
		}
	})
}

// With a pass each minute, every second one asks for the pulse of up to 2,500 repositories: a
// change is seen within two minutes.
func TestPulsesAreTwoMinutesApartAtMost(t *testing.T) {
	for n := 1; n <= 2500; n++ {
		if every := pulseInterval(n); every > 2*time.Minute {
			t.Fatalf("%s between two pulses of %d repositories", every, n)
		}
	}
}

// A quiet repository is read within its bound since the last read, at any times of the passes: its
// turn is never lost.
func TestPropertyEachHasItsTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 3000).Draw(t, "repositories")
		changed := midday.Add(-minutes(0, 300).Draw(t, "quiet"))
		row := work.Repo{NodeID: fmt.Sprint(rapid.Int().Draw(t, "id")), HeartbeatAt: midday, Pulse: work.Pulse{Issues: midday, Changed: changed}}
		shown := PulseShown{Asked: true, Known: true, Issues: midday}
		between := minutes(1, 20).Draw(t, "between passes")
		for now := midday; now.Before(midday.Add(6 * time.Hour)); now = now.Add(between) {
			every := readInterval(now.Sub(changed), n)
			if (PulseRepo{Row: row, Shown: shown}).Judge(now, n) != Quiet {
				row.HeartbeatAt = now
			} else if since := now.Sub(row.HeartbeatAt); since >= every {
				t.Fatalf("read %s ago, every %s, and not read", since, every)
			}
		}
	})
}

// A repository whose stamp moved in either direction is read in the next pass, and so is one that
// GitHub does not report on any more. Then that one is read in its turn, like a quiet one.
func TestPropertyWhatMovedIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stamp := func(name string) time.Time { return midday.Add(minutes(-5, 5).Draw(t, name)) }
		row := work.Repo{NodeID: "R", HeartbeatAt: midday, Pulse: work.Pulse{Issues: stamp("issues"), Pulls: stamp("pulls"), Changed: midday.Add(-24 * time.Hour)}}
		shown := PulseShown{Asked: true, Known: rapid.Bool().Draw(t, "known"), Issues: stamp("issues now"), Pulls: stamp("pulls now")}
		if !shown.Known {
			shown.Issues, shown.Pulls = time.Time{}, time.Time{}
		}
		if rapid.Bool().Draw(t, "read before") {
			row.Pulse = (&PulseLook{Shown: shown}).Pulse(row.Pulse, true, midday.Add(-24*time.Hour))
		}
		why := PulseRepo{Row: row, Shown: shown}.Judge(midday, 100)
		same := shown.Issues.Equal(row.Pulse.Issues) && shown.Pulls.Equal(row.Pulse.Pulls)
		switch {
		case !same && why != Moved, same && why != Quiet:
			t.Errorf("%+v, shown %+v: %d", row.Pulse, shown, why)
		}
		if why := (PulseRepo{Row: row, Shown: shown}).Judge(midday.Add(time.Hour), 100); same && why != InTurn {
			t.Errorf("%+v, shown %+v: an hour later %d", row.Pulse, shown, why)
		}
	})
}

// With any number to read, a pass keeps to its requests, reads the urgent ones first and leaves a
// share to the patient ones; in the end each is read.
func TestPropertyNobodyIsPutOffForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "repositories")
		requests := Allowance(minutes(0, 3).Draw(t, "since"), rapid.IntRange(0, 300).Draw(t, "read within a minute"))
		if requests == 0 {
			return // others have just read as many
		}
		all, whys := make([]PulseRepo, n), make([]ReadReason, n)
		for i := range all {
			all[i].Row.HeartbeatAt = midday.Add(minutes(-100, 0).Draw(t, "read"))
			whys[i] = ReadReason(rapid.IntRange(int(Moved), int(Quiet)).Draw(t, "why"))
		}
		left := 0
		for _, why := range whys {
			if why != Quiet {
				left++
			}
		}
		for pass := 0; left > 0; pass++ {
			chosen := ChooseRepos(all, whys, requests)
			cost, patient, waiting := 0, 0, slices.ContainsFunc(whys, func(w ReadReason) bool { return w >= InTurn && w <= First })
			for _, i := range chosen {
				if whys[i] == Quiet {
					t.Fatal("a quiet one was chosen")
				}
				cost += requestsOfRead
				if whys[i] == First {
					cost += requestsOfFirst - requestsOfRead
				}
				if whys[i] >= InTurn && whys[i] <= First {
					patient++
				}
				whys[i] = Quiet
			}
			if cost > requests || len(chosen) == 0 || waiting && patient == 0 {
				t.Fatalf("pass %d: %d requests of %d for %d repositories, %d patient", pass, cost, requests, len(chosen), patient)
			}
			left -= len(chosen)
		}
	})
}

// However many machines make passes, and however often, together they read no more repositories than one
// machine that makes a pass a minute, and a few; and those that are read regardless of their pulse use no
// more points than their share.
func TestPropertyMachinesReadAtOnePace(t *testing.T) {
	checks(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1000).Draw(t, "repositories")
		every := time.Duration(rapid.IntRange(200, 60_000).Draw(t, "milliseconds between passes")) * time.Millisecond
		all, whys := make([]PulseRepo, n), make([]ReadReason, n)
		for i := range whys {
			all[i].Row.HeartbeatAt, all[i].Row.Pulse.At = midday.Add(-time.Hour), midday.Add(-time.Hour)
		}
		last, points := midday.Add(-time.Hour), 0
		requests := map[time.Duration]int{}
		const long = 30 * time.Minute
		for now := midday; now.Before(midday.Add(long)); now = now.Add(every) {
			recent, due := 0, 0
			for i := range all {
				if now.Sub(all[i].Row.HeartbeatAt) < time.Minute {
					recent++
				}
				whys[i] = Quiet
				if !all[i].Row.Pulse.At.Add(UnreadWait(n, 10*time.Second)).After(now) {
					all[i].Row.Pulse.At, whys[i] = now, Unread
					due++
				} else if all[i].Row.HeartbeatAt.Before(all[i].Row.Pulse.At) && !all[i].Row.HeartbeatAt.Add(UnreadWait(n, 10*time.Second)).After(now) {
					whys[i] = Unread
				}
			}
			if due > 0 {
				points += 2*((due+99)/100) + (due+49)/50
			}
			for _, i := range ChooseRepos(all, whys, Allowance(now.Sub(last), recent)) {
				all[i].Row.HeartbeatAt = now
				last = now
				requests[now.Sub(midday)/time.Minute] += requestsOfRead
			}
		}
		if most := int(long*unreadPoints/time.Hour) + 2*((n+99)/100) + (n+49)/50; points > most {
			t.Errorf("%d points, and %d are its share", points, most)
		}
		for minute, sum := range requests {
			if most := 2*perMinute + leastRequests; sum > most { // the window of a pass begins within the minute before
				t.Errorf("%d requests in minute %d", sum, minute)
			}
		}
	})
}

// If others use up the points, repositories that are only in turn wait, and changed ones do not.
func TestSpareLeavesPointsToPulses(t *testing.T) {
	reset := midday.Add(30 * time.Minute)
	if !Spare(5000, reset, midday, time.Minute, 2000) || Spare(1000, reset, midday, time.Minute, 2000) || !Spare(1000, reset, midday, time.Minute, 50) || !Spare(0, time.Time{}, midday, time.Minute, 50) {
		t.Error("points are spared wrongly")
	}
	if !Spare(5000, midday.Add(8000*time.Hour), midday, time.Minute, 50) {
		t.Error("a clock that is wrong ends rotation")
	}
}

// The turns of many do not come at once.
func TestTurnsAreSpread(t *testing.T) {
	const n, every = 2000, time.Hour
	for at := range 60 {
		now := midday.Add(time.Duration(at) * time.Minute)
		due := 0
		for i := range n {
			if isDue(fmt.Sprintf("R_%d", i), now.Add(-time.Minute), now, every) {
				due++
			}
		}
		if due < 10 || due > 60 {
			t.Errorf("minute %d: %d of %d", at, due, n)
		}
	}
}

// A pull request is asked about in each read while it is lively, otherwise in its turn; all are if
// no earlier stamps are stored.
func TestAsks(t *testing.T) {
	quiet := work.PullRequest{NodeID: "PR", DetailsAt: midday, Fingerprint: "f", UpdatedAt: midday.Add(-24 * time.Hour)}
	with := func(change func(*work.PullRequest)) work.PullRequest {
		p := quiet
		change(&p)
		return p
	}
	row := work.Repo{HeartbeatAt: midday.Add(-time.Second), Pulse: work.Pulse{Pulls: midday}}
	known := PulseLook{Shown: PulseShown{Asked: true, Known: true}, Every: 1000 * time.Hour}
	for _, tt := range []struct {
		name string
		look PulseLook
		row  work.Repo
		pull work.PullRequest
		asks bool
	}{
		{"quiet", known, row, quiet, false},
		{"it changed within the hour", known, row, with(func(p *work.PullRequest) { p.UpdatedAt = midday.Add(-time.Minute) }), true},
		{"its checks run", known, row, with(func(p *work.PullRequest) { p.Rollup = "PENDING" }), true},
		{"GitHub finds out whether it can be merged", known, row, with(func(p *work.PullRequest) { p.Mergeable = "UNKNOWN" }), true},
		{"it was never read", known, row, with(func(p *work.PullRequest) { p.DetailsAt = time.Time{} }), true},
		{"it could not be read", known, row, with(func(p *work.PullRequest) { p.Failures = 1 }), true},
		{"its turn", PulseLook{Shown: known.Shown, Every: time.Millisecond}, row, quiet, true},
		{"no pulse", PulseLook{Every: known.Every}, row, quiet, true},
		{"GitHub hides its repository", PulseLook{Shown: PulseShown{Asked: true}, Every: known.Every}, row, quiet, false},
		{"the last read was cut", known, work.Repo{HeartbeatAt: row.HeartbeatAt}, quiet, true},
	} {
		if got := tt.look.IncludesPull(tt.row, store.OpenPullOf(tt.pull), midday); got != tt.asks {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A look that is due comes with the next pass; its time is not in the past.
func TestWatchSaysWhenARepositoryIsLookedAtNext(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ago := now.Add(-10 * time.Second)
	many := handful + 1
	for name, c := range map[string]struct {
		repo   work.Repo
		n      int
		manner Manner
		next   time.Time
	}{
		"each pass, due":        {work.Repo{HeartbeatAt: now.Add(-time.Hour)}, 1, EachPass, time.Time{}},
		"each pass, later":      {work.Repo{HeartbeatAt: ago}, 1, EachPass, ago.Add(time.Minute)},
		"each pass, deferred":   {work.Repo{HeartbeatAt: ago, NotBefore: now.Add(time.Hour)}, 1, EachPass, now.Add(time.Hour)},
		"each pass, now":        {work.Repo{HeartbeatAt: now.Add(-time.Minute)}, 1, EachPass, time.Time{}},
		"never looked at":       {work.Repo{}, many, ByPulse, time.Time{}},
		"by pulse, due":         {work.Repo{Pulse: work.Pulse{At: now.Add(-time.Hour)}}, many, ByPulse, time.Time{}},
		"deferred, and is over": {work.Repo{NotBefore: ago}, many, ByPulse, time.Time{}},
	} {
		manner, next := WatchManner(c.repo, c.n, time.Minute, now)
		if manner != c.manner || !next.Equal(c.next) || next.IsZero() != c.next.IsZero() {
			t.Errorf("%s: %s at %v, not %s at %v", name, manner, next, c.manner, c.next)
		}
	}
}

// Passes of a minute read no more details again than one would, or one each.
func TestOldDetailsOfPassesOfOneMinute(t *testing.T) {
	for passes := 1; passes <= 60; passes++ {
		if n := passes * OldDetails(time.Minute/time.Duration(passes)); n > max(passes, github.MaxDetails) {
			t.Errorf("%d passes read the details of %d", passes, n)
		}
	}
	if n := OldDetails(time.Hour); n != github.MaxDetails {
		t.Errorf("after an hour %d", n)
	}
}
