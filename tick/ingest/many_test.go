package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// One of a hundred repositories is read if something may be new in it, and in turn.
func TestWhichOfManyRepositoriesAreRead(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	old := work.Stamps{Issues: now.Add(-time.Hour), Pulls: now.Add(-2 * time.Hour)}
	for name, c := range map[string]struct {
		change func(*oneOfMany)
		read   bool
	}{
		"nothing is new":                         {func(*oneOfMany) {}, false},
		"an issue changed":                       {func(c *oneOfMany) { c.shown.Issues = now.Add(-time.Minute) }, true},
		"a pull request changed":                 {func(c *oneOfMany) { c.shown.Pulls = now.Add(-time.Minute) }, true},
		"the issue that changed last is gone":    {func(c *oneOfMany) { c.shown.Issues = old.Issues.Add(-time.Hour) }, true},
		"all issues are gone":                    {func(c *oneOfMany) { c.shown.Issues = time.Time{} }, true},
		"it changed a moment ago, and was read":  {func(c *oneOfMany) { c.shown.Pulls, c.Row.Newest.Pulls = now.Add(-time.Minute), now.Add(-time.Minute) }, true},
		"something in it is unread":              {func(c *oneOfMany) { c.unread = true }, true},
		"GitHub does not show it":                {func(c *oneOfMany) { c.shown = nil }, true},
		"it has another name, or is archived":    {func(c *oneOfMany) { c.shown.doubted = true }, true},
		"it was never read":                      {func(c *oneOfMany) { c.Row.HeartbeatAt = time.Time{} }, true},
		"no pass knows it":                       {func(c *oneOfMany) { c.Row.NodeID = "" }, true},
		"it is its turn":                         {func(c *oneOfMany) { c.Row.HeartbeatAt = now.Add(-turnOf(100)) }, true},
		"it was read in the future":              {func(c *oneOfMany) { c.Row.HeartbeatAt = now.Add(2 * time.Hour) }, true},
		"it was read as one of a few until then": {func(c *oneOfMany) { c.Row.Newest = work.Stamps{} }, true},
	} {
		one := oneOfMany{
			Repo:  &env.Repo{Row: work.Repo{NodeID: "R_1", HeartbeatAt: now.Add(-5 * time.Minute), Newest: old}},
			shown: &stamps{Stamps: old},
		}
		c.change(&one)
		if read := one.due(100, now); read != c.read {
			t.Errorf("%s: it is read: %t", name, read)
		}
	}
	if a, b := turnOf(6), turnOf(2000); a != time.Minute || b != time.Hour {
		t.Errorf("6 repositories have their turn after %s, 2,000 after %s", a, b)
	}
}

// A pass reads a bounded number of many repositories, and none waits for ever: those come first that were
// read longest ago.
func TestAPassReadsSomeOfManyRepositories(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var due []oneOfMany
	for i := range mostReads + 30 {
		due = append(due, oneOfMany{Repo: &env.Repo{Row: work.Repo{ID: int64(i), HeartbeatAt: now.Add(-time.Duration(i) * time.Second)}}})
	}
	first, others := longestAgo(due)
	if len(first) != mostReads || len(others) != 30 || first[0].Row.ID != mostReads+29 || others[0].Row.ID != 29 {
		t.Errorf("%d are read from %d on, and %d are not, from %d on", len(first), first[0].Row.ID, len(others), others[0].Row.ID)
	}
}
