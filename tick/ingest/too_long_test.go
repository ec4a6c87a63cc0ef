package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// An issue or pull request that takes longer to read than a pass holds up no other and waits at
// growing intervals, and passes say which and what to change. Once there is time, all that people
// said on it is known.
func TestWhatTakesLongerThanAPassHoldsUpNoOther(t *testing.T) {
	testhome.NotShort(t)
	known := func() *machine { return newMachine(t, news{seed: 1, issues: 3, pulls: 12, seconds: 10}, 100) }
	forgotten := func() *machine {
		return newLostMachine(t, lost{seed: 2, issues: 2, pulls: 14, ours: 10}, 100)
	}
	for name, c := range map[string]struct {
		begin func() *machine
		long  int
	}{
		"an issue":                          {known, 1},
		"a pull request":                    {known, 2000},
		"one among other pull requests":     {known, 2005},
		"a pull request of a lost database": {forgotten, 2003},
		"its issue":                         {forgotten, 1003},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func() *machine {
				m := c.begin()
				for i, n := range slices.Concat(m.numbers, []int{c.long}) {
					said := github.Comment{ID: int64(70_000 + i), Number: n, Author: ann, Body: fmt.Sprint("Rename it. ", i), CreatedAt: noon.Add(-time.Minute), UpdatedAt: noon.Add(-time.Minute)}
					m.hub.comments = append(m.hub.comments, said)
					m.hub.add("comments", said.UpdatedAt, said)
				}
				return m
			}
			whole := begin()
			for range 3 {
				whole.pass(fate{})
			}
			want := whole.stored()

			m, said := begin(), false
			m.retry = time.Minute
			m.hub.needs[c.long] = 100
			pass := func(minutes int) {
				for range minutes {
					m.pass(fate{latency: 200 * time.Millisecond})
					said = said || strings.HasPrefix(m.note, fmt.Sprintf("#%d ", c.long)) && strings.Contains(m.note, "more to read than a pass has time for")
					m.hub.now = m.hub.now.Add(time.Minute)
				}
			}
			pass(15)
			for line := range strings.SplitSeq(differences(m.stored(), want), "\n") {
				var change, what string
				var number int
				if _, err := fmt.Sscanf(line, "%s %s %d", &change, &what, &number); err == nil && number%1000 != c.long%1000 {
					t.Errorf("after 15 passes: %s", line)
				}
			}
			if !said {
				t.Errorf("no pass says that #%d takes too long", c.long)
			}
			pass(105)
			if n := len(slices.Compact(m.hub.begun)); n < 4 || n > 25 {
				t.Errorf("it was begun in %d of 120 passes: %s", n, m.hub.begun)
			}
			clear(m.hub.needs)
			pass(70)
			if d := differences(m.stored(), want); d != "" {
				t.Errorf("once there is time, stored is something else:\n%s", d)
			}
		})
	}
}
