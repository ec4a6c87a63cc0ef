package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 23, 1, 30, 0, 0, time.FixedZone("", -5*3600)) // 06:30 in UTC
	for text, want := range map[string]string{
		"1d": "2026-11-23", "30d": "2026-10-25", "4w": "2026-10-27", "2026-01-31": "2026-01-31", "all": "0001-01-01",
		"": "", "d": "", "0d": "", "-1d": "", "12h": "", "99999999d": "", "2026-02-30": "", "30": "", "2026-11-23": "2026-11-23", "2026-11-24": "",
	} {
		got, err := since(text, now)
		if err != nil != (want == "") || err == nil && got.Format(time.DateOnly) != want {
			t.Errorf("%q: %s, %v; want %q", text, got, err, want)
		}
	}
}

var (
	one = work.RepoName{Host: "github.com", Owner: "octo", Name: "one"}
	two = work.RepoName{Host: "github.com", Owner: "octo", Name: "two"}
)

func line(repo work.RepoName, day, agent string, runs, unknown int, usd float64) store.CostLine {
	return store.CostLine{
		TotalKey: store.TotalKey{Day: day, RepoID: int64(len(repo.Name)) + int64(repo.Name[0]), Repo: repo, Agent: agent},
		Runs:     runs, Turns: runs,
		UsageSum: work.UsageSum{Usage: work.Usage{InputTokens: 1_000_000 * int64(runs), OutputTokens: 10, CostUSD: usd}, UnknownCost: unknown},
	}
}

// What differs in nothing but its repository is one line, the dearest first; what nobody
// knows is named.
func TestCostsAreFolded(t *testing.T) {
	for by, want := range map[string]string{
		"agent": "codex\t3\t3\t3000000\t20\t3.00 USD\t\nclaude\t2\t2\t2000000\t10\tat least 2.00 USD\t\n",
		"repo":  "octo/one\t3\t3\t3000000\t20\tat least 4.00 USD\t\nocto/two\t2\t2\t2000000\t10\t1.00 USD\t\n",
		"day":   "2026-01-01\t1\t1\t1000000\t10\t2.00 USD\t\n2026-01-02\t2\t2\t2000000\t10\tat least 2.00 USD\t\n2026-01-03\t2\t2\t2000000\t10\t1.00 USD\t\n",
	} {
		lines := []store.CostLine{
			line(one, "2026-01-02", "claude", 2, 1, 2), line(two, "2026-01-03", "codex", 2, 0, 1), line(one, "2026-01-01", "codex", 1, 0, 2),
		}
		for i := range lines { // as the store gives them
			k := store.TotalKey{RepoID: lines[i].RepoID, Repo: lines[i].Repo}
			switch by {
			case "agent":
				k.Agent = lines[i].Agent
			case "day":
				k.Day = lines[i].Day
			}
			lines[i].TotalKey = k
		}
		var out, notes bytes.Buffer
		if err := costsOf(&config.Config{}, by, lines).print(terminal.Output{W: &out}, &notes, by, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want || notes.String() != "since the beginning\n" {
			t.Errorf("%s: %q, want %q; %q", by, out.String(), want, notes.String())
		}
	}
}

// Two lines about one issue differ in what is shown: in their pull requests. A repository that another
// one of its name replaced is no other line.
func TestLinesOfAnIssueAreToldApart(t *testing.T) {
	of := func(repoID int64, item int64, title string, pull int) store.CostLine {
		return store.CostLine{TotalKey: store.TotalKey{RepoID: repoID, Repo: one, ItemID: item, Number: 5, Title: title, Pull: pull}, Runs: 1, Turns: 1}
	}
	var out bytes.Buffer
	lines := []store.CostLine{of(1, 1, "Old title", 0), of(1, 2, "Title", 6), of(2, 3, "Title", 0), of(2, 4, "Title", 7)}
	if err := costsOf(&config.Config{}, "item", lines).print(terminal.Output{W: &out}, &out, "item", time.Time{}); err != nil {
		t.Fatal(err)
	}
	want := "octo/one#5\t2\t2\t0\t0\t0.00 USD\tTitle\t\nocto/one#5\t1\t1\t0\t0\t0.00 USD\tTitle\t#6\nocto/one#5\t1\t1\t0\t0\t0.00 USD\tTitle\t#7\nsince the beginning\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
