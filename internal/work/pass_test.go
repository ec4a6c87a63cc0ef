package work

import (
	"strings"
	"testing"
	"time"
)

// Passes that do nothing, wait or are interrupted neither end a row of failures nor belong to it.
func TestLastPass(t *testing.T) {
	at := time.Unix(1_000, 0)
	var l LastPass
	for _, c := range []struct {
		outcome   PassOutcome
		failures  int
		good, bad int64
		why       string
	}{
		{PassOK, 0, 1000, 0, ""},
		{PassNone, 0, 1000, 0, ""},
		{PassFailed, 1, 1000, 1002, "broken"},
		{PassWaiting, 1, 1000, 1002, "broken"},
		{PassFailed, 2, 1000, 1002, "broken"},
		{PassCancelled, 2, 1000, 1002, "broken"},
		{PassNone, 2, 1000, 1002, "broken"},
		{PassOK, 0, 1007, 0, ""},
		{PassWaiting, 0, 1007, 1008, ""},
		{PassOK, 0, 1009, 0, ""},
	} {
		l = l.After(c.outcome, at, time.Second, "broken", "")
		bad := int64(0)
		if !l.BadSince.IsZero() {
			bad = l.BadSince.Unix()
		}
		if l.Failures != c.failures || l.GoodAt.Unix() != c.good || bad != c.bad || l.Why != c.why || !l.At.Equal(at) || l.Took != time.Second {
			t.Errorf("after %q: %+v", c.outcome, l)
		}
		at = at.Add(time.Second)
	}
}

// Whatever keeps passes from working is seen, and nothing else is.
func TestJudgePasses(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	limits := PassLimits{Plan: 15 * time.Minute, Pass: 5 * time.Hour}
	good := LastPass{At: ago(time.Minute), GoodAt: ago(time.Minute)}
	old := LastPass{At: ago(31 * time.Minute), GoodAt: ago(31 * time.Minute)}
	running := func(d time.Duration) []Beginning { return []Beginning{{PID: 7, At: ago(d)}} }
	died := func(n int) (all []Beginning) {
		for i := range n {
			all = append(all, Beginning{PID: 100 + i, At: ago(time.Minute), Gone: true})
		}
		return all
	}
	for name, c := range map[string]struct {
		f       PassFacts
		want    PassCode
		lasting bool
		says    string
	}{
		"none yet":                         {PassFacts{}, PassesNoneYet, false, ""},
		"none yet, and the first one runs": {PassFacts{Begun: running(time.Minute)}, PassesWork, false, ""},
		"the first one was killed":         {PassFacts{Begun: died(1)}, PassesFail, false, "the last pass failed: the pass that began at"},
		"good":                             {PassFacts{Last: good, Every: time.Minute}, PassesWork, false, ""},
		"good beside a long one":           {PassFacts{Last: good, Begun: running(4 * time.Hour), Every: time.Minute}, PassesWork, false, ""},
		"one failed":                       {PassFacts{Last: good.After(PassFailed, now, 0, "no network", "")}, PassesFail, false, "the last pass failed: no network"},
		"three were killed":                {PassFacts{Last: good, Begun: died(3)}, PassesFail, true, "the last 3 passes failed: the pass that began"},
		"one of them hangs":                {PassFacts{Last: good, Begun: running(6 * time.Hour)}, PassesHang, true, "the pass of process 7 "},
		"one of them is stopped":           {PassFacts{Last: good, Begun: []Beginning{{PID: 7, At: ago(time.Minute), Stopped: true}}}, PassesHang, true, "the pass of process 7, which began at"},
		"tick.lock is held":                {PassFacts{Last: good, Planning: &running(time.Hour)[0]}, PassesHang, true, "process 7 holds locks/tick.lock"},
		"overdue":                          {PassFacts{Last: old, Every: time.Minute}, PassesLate, true, "no pass has begun since"},
		"overdue, and paused":              {PassFacts{Last: old, Every: time.Minute, Paused: true}, PassesWork, false, ""},
		"old, but one runs":                {PassFacts{Last: old, Every: time.Minute, Begun: running(30 * time.Minute)}, PassesWork, false, ""},
		"old, and rarely due":              {PassFacts{Last: old, Every: 15 * time.Minute}, PassesWork, false, ""},
		"old, and just scheduled":          {PassFacts{Last: old, Every: time.Minute, Since: ago(time.Minute)}, PassesWork, false, ""},
		"old, and nothing is scheduled":    {PassFacts{Last: old}, PassesWork, false, ""},
		"waiting for an hour":              {PassFacts{Last: LastPass{At: now, BadSince: ago(time.Hour)}}, PassesWork, false, ""},
		"waiting for two hours":            {PassFacts{Last: LastPass{At: now, BadSince: ago(2 * time.Hour)}}, PassesLate, true, "passes wait, and none has read a repository"},
		"the clock was ahead":              {PassFacts{Last: LastPass{At: now.Add(time.Hour)}, Every: time.Minute}, PassesWork, false, ""},
	} {
		c.f.Now, c.f.Limits = now, limits
		v := JudgePasses(c.f)
		if v.Code != c.want || v.Lasting != c.lasting || !strings.HasPrefix(v.Says, c.says) || v.Bad() == (v.Do == "") && v.Code != PassesNoneYet {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
