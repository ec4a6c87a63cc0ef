package news

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

var (
	noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	app  = Place{RepoID: 1, Repo: work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}, Key: "github.com R1", ItemID: 3, Number: 7, URL: "https://github.com/octo/app/issues/7", Title: "Crash"}
	chat = "chat"
)

// since is what is known of a target that is told everything since a time.
func since(target string, at time.Time) (all []Known) {
	for _, w := range All() {
		all = append(all, Known{Target: target, What: w, Since: at})
	}
	return all
}

func stop(kind work.ReasonKind, state work.State, at time.Time) Stop {
	return Stop{Place: app, Token: "tok", Reason: work.Reason{Kind: kind, Text: "Which one?", Number: 7}, State: state, Since: at}
}

func whats(all []Entry) (out []Kind) {
	for _, e := range all {
		out = append(out, e.What)
	}
	return out
}

func TestDecide(t *testing.T) {
	just := noon.Add(-time.Minute)
	for name, c := range map[string]struct {
		facts Facts
		want  []Kind
	}{
		"nothing":                   {Facts{}, nil},
		"an agent asks":             {Facts{Stops: []Stop{stop(work.WhyQuestion, work.StateAwaitingIssueFollowup, just)}}, []Kind{Question}},
		"nothing changed":           {Facts{Stops: []Stop{stop(work.WhyNothingChanged, work.StateAwaitingIssueFollowup, just)}}, []Kind{Blocked}},
		"tests fail":                {Facts{Stops: []Stop{stop(work.WhyTestsFail, work.StateBlocked, just)}}, []Kind{Blocked}},
		"reviews go round":          {Facts{Stops: []Stop{stop(work.WhyReviewCycles, work.StateBlocked, just)}}, []Kind{HumanReview}},
		"a review failed":           {Facts{Stops: []Stop{stop(work.WhyReviewFailed, work.StateBlocked, just)}}, []Kind{Blocked}},
		"a person has to approve":   {Facts{Approvals: []Approval{{app, "h", just}}}, []Kind{HumanReview}},
		"opened and merged":         {Facts{Opened: []Pull{{app, just}}, Merged: []Pull{{app, just}}}, []Kind{PullOpened, Merged}},
		"merging is stopped":        {Facts{Halts: []Halt{{app, work.Reason{Kind: work.WhyMergeDiffers}, just}}}, []Kind{Blocked}},
		"the budget is spent":       {Facts{Budget: work.Reason{Kind: work.WhyDayBudget, Name: work.MaxTurnsPerDay}}, []Kind{BudgetSpent}},
		"before it was told":        {Facts{Stops: []Stop{stop(work.WhyQuestion, work.StateBlocked, noon.Add(-2*time.Hour))}}, nil},
		"two passes failed":         {Facts{Passes: &work.PassFacts{Last: work.LastPass{Failures: 2}}}, nil},
		"three did":                 {Facts{Passes: &work.PassFacts{Last: work.LastPass{Failures: 3}}}, []Kind{PassFailing}},
		"seven did":                 {Facts{Passes: &work.PassFacts{Last: work.LastPass{Failures: 7}}}, []Kind{PassFailing}},
		"this one is not over":      {Facts{}, nil},
		"they do no more":           {Facts{Passes: &work.PassFacts{}, Failing: map[string]Entry{"chat": {Key: "pass_failing 17"}}}, []Kind{Recovered}},
		"nobody knew that they did": {Facts{Passes: &work.PassFacts{}, Failing: map[string]Entry{"mail": {Key: "pass_failing 17"}}}, nil},
	} {
		c.facts.Now = noon
		if got := whats(Decide(c.facts, []string{chat}, since(chat, noon.Add(-time.Hour)))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := Decide(c.facts, []string{chat}, nil); len(got) > 0 {
			t.Errorf("%s: told to a target that nobody knows: %q", name, whats(got))
		}
	}
}

// The same fact has the same key whenever it is looked at, another one another key.
func TestKeys(t *testing.T) {
	facts := func(change func(*Facts)) Facts {
		f := Facts{
			Now: noon, Stops: []Stop{stop(work.WhyQuestion, work.StateBlocked, noon)}, Opened: []Pull{{app, noon}}, Merged: []Pull{{app, noon}},
			Approvals: []Approval{{app, "h", noon}}, Halts: []Halt{{app, work.Reason{Kind: work.WhyMergeDiffers}, noon}},
			Budget: work.Reason{Kind: work.WhyDayBudget, Name: work.MaxTurnsPerDay}, Passes: &work.PassFacts{Last: work.LastPass{Failures: 3, GoodAt: noon}},
		}
		change(&f)
		return f
	}
	keys := func(change func(*Facts)) (all []string) {
		for _, e := range Decide(facts(change), []string{chat}, since(chat, noon.Add(-time.Hour))) {
			all = append(all, e.Key)
		}
		return all
	}
	before := keys(func(*Facts) {})
	if len(before) != 7 || len(slices.Compact(slices.Sorted(slices.Values(before)))) != 7 {
		t.Fatalf("%q", before)
	}
	same := keys(func(f *Facts) {
		f.Now = f.Now.Add(time.Hour)
		f.Stops[0].Title, f.Stops[0].RepoID, f.Stops[0].ItemID, f.Stops[0].Reason.Used = "Renamed", 9, 9, 4
		f.Opened[0].At, f.Passes.Last.Failures = noon.Add(time.Second), 9
	})
	if !slices.Equal(same, before) {
		t.Errorf("%q\n%q", same, before)
	}
	other := keys(func(f *Facts) {
		f.Stops[0].Since = f.Stops[0].Since.Add(time.Minute)
		f.Opened[0].Number, f.Merged[0].Number = 8, 8
		f.Approvals[0].Head = "i"
		f.Halts[0].At = f.Halts[0].At.Add(time.Minute)
		f.Now = f.Now.Add(20 * time.Hour)
		f.Passes.Last.GoodAt = noon.Add(time.Minute)
	})
	for i := range before {
		if other[i] == before[i] {
			t.Errorf("%q is the same for something else", other[i])
		}
	}
	if Delivery("chat", "k") == Delivery("mail", "k") || Delivery("chat", "k") == Delivery("chat", "l") {
		t.Error("two messages have one name")
	}
}

func TestStandingIsNoNews(t *testing.T) {
	f := Facts{
		Now: noon, Budget: work.Reason{Kind: work.WhyDayBudget, Name: work.MaxTurnsPerDay}, Stops: []Stop{stop(work.WhyQuestion, work.StateBlocked, noon)},
		Halts: []Halt{{app, work.Reason{Kind: work.WhyMergeDiffers}, noon}},
	}
	all := Standing(f, since(chat, noon))
	if !slices.Equal(whats(all), []Kind{Blocked, BudgetSpent}) || all[0].State != Dropped || all[1].SettledAt.IsZero() {
		t.Errorf("%+v", all)
	}
	for _, e := range all {
		if !slices.ContainsFunc(Decide(f, []string{chat}, since(chat, noon)), func(o Entry) bool { return o.Key == e.Key }) {
			t.Errorf("%q is not what would be told", e.Key)
		}
	}
	if got := Standing(f, nil); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestDue(t *testing.T) {
	at := func(target string, ago time.Duration, tried time.Duration) Entry {
		e := Entry{Target: target, At: noon.Add(-ago), Key: target + ago.String()}
		if tried > 0 {
			e.SentAt = noon.Add(-tried)
		}
		return e
	}
	planned := []Entry{
		at("chat", time.Hour, 0), at("chat", 2*time.Hour, 6*time.Minute), at("chat", 25*time.Hour, 0),
		at("mail", time.Hour, 0), at("mail", 3*time.Hour, time.Minute), at("left", time.Hour, 0), at("left", 30*time.Hour, 0),
	}
	targets := []string{chat, "mail"}
	keys := func(all []Entry) (out []string) {
		for _, e := range all {
			out = append(out, e.Key)
		}
		return out
	}
	send, drop := Due(planned, targets, noon, 20)
	if got := strings.Join(keys(send), " "); got != "chat2h0m0s chat1h0m0s" {
		t.Errorf("sent: %s", got)
	}
	if got := strings.Join(keys(drop), " "); got != "chat25h0m0s left30h0m0s" {
		t.Errorf("dropped: %s", got)
	}
	if send, _ = Due(planned, targets, noon, 1); strings.Join(keys(send), " ") != "chat2h0m0s" {
		t.Errorf("%q", keys(send))
	}
	if send, _ = Due(planned, targets, noon, 0); len(send) != 0 {
		t.Errorf("%q", keys(send))
	}
}

func TestMessage(t *testing.T) {
	p := app
	p.Title = "It's \"<b>\"\nand more" + strings.Repeat("x", 400)
	f := Facts{Now: noon, Stops: []Stop{{Place: p, Token: "tok", Reason: work.Reason{Kind: work.WhyQuestion, Text: "Which\none?"}, Since: noon}}}
	e := Decide(f, []string{chat}, since(chat, noon))[0]
	var m Message
	if err := json.Unmarshal([]byte(e.Body), &m); err != nil || strings.Contains(e.Body, "\n") {
		t.Fatalf("%v in %s", err, e.Body)
	}
	if m.Version != 1 || m.ID != Delivery("chat", e.Key) || m.Host != "github.com" || m.Repository != "octo/app" || m.Number != 7 || m.Title != p.Title ||
		m.ReasonCode != "question" || !strings.Contains(m.Says, "Which\none?") || m.Do == "" || !m.At.Equal(noon) {
		t.Errorf("%+v", m)
	}
	if !strings.HasPrefix(m.Text, `Question: octo/app#7 (It's "<b>" and morexx`) || !strings.HasSuffix(m.Text, "… https://github.com/octo/app/issues/7") || len([]rune(m.Text)) > 360 {
		t.Errorf("%s", m.Text)
	}
	var keys map[string]any
	_ = json.Unmarshal([]byte(Trial("chat", noon).JSON()), &keys)
	if len(keys) != 13 || keys["event"] != "test" {
		t.Errorf("%v", keys)
	}
	if Trial("chat", noon).ID == Trial("chat", noon.Add(time.Second)).ID {
		t.Error("two test messages have one name")
	}
}

func TestClean(t *testing.T) {
	p := Place{Title: "SECRET"}
	f := Facts{
		Stops: []Stop{{Place: p, Reason: work.Reason{Text: "SECRET"}}}, Opened: []Pull{{Place: p}}, Merged: []Pull{{Place: p}}, Approvals: []Approval{{Place: p}},
		Halts: []Halt{{Reason: work.Reason{Text: "SECRET"}}}, Passes: &work.PassFacts{Last: work.LastPass{Why: "SECRET"}},
	}
	f.Clean(func(s string) string { return strings.ReplaceAll(s, "SECRET", "…") })
	if b, err := json.Marshal(f); err != nil || strings.Contains(string(b), "SECRET") || strings.Count(string(b), "…") < 7 {
		t.Errorf("%v: %s", err, b)
	}
}

// Passes of several machines are kept apart, also where none of them ever ended well.
func TestMachines(t *testing.T) {
	failing := func(machine string) Entry {
		f := Facts{Now: noon, Machine: machine, Passes: &work.PassFacts{Last: work.LastPass{Failures: 3, Why: "no network"}}}
		all := Decide(f, []string{chat}, since(chat, noon.Add(-time.Hour)))
		if len(all) != 1 || all[0].Machine != machine {
			t.Fatalf("%+v", all)
		}
		return all[0]
	}
	a, b, alone := failing("a"), failing("b"), failing("")
	if a.Key == b.Key || !strings.Contains(a.Body, "machine a: ") || alone.Key != "pass_failing 0" || strings.Contains(alone.Body, "machine a") {
		t.Errorf("keys %q, %q, %q; %s", a.Key, b.Key, alone.Key, a.Body)
	}
	well := Facts{Now: noon, Machine: "a", Passes: &work.PassFacts{}, Failing: map[string]Entry{"chat": a}}
	if all := Decide(well, []string{chat}, since(chat, noon.Add(-time.Hour))); !slices.Equal(whats(all), []Kind{Recovered}) || all[0].Key != "pass_recovered a 0" || all[0].Machine != "a" {
		t.Errorf("%+v", all)
	}
}

// Another machine that is silent is reported once for each silence, and so is the end of the silence.
// One that a person stopped or forgot is neither silent nor back.
func TestSilentMachines(t *testing.T) {
	quiet := work.Machine{Name: "b", Host: "desk", BeganAt: noon.Add(-time.Hour), SilentAfter: 20 * time.Minute}
	works, paused := quiet, quiet
	works.BeganAt, paused.Stopped = noon, work.MachinePaused
	of := func(m ...work.Machine) Facts {
		return Facts{Now: noon, Machine: "a", Others: m, Passes: &work.PassFacts{}}
	}
	decide := func(f Facts) []Entry { return Decide(f, []string{chat}, since(chat, noon.Add(-time.Hour))) }
	silent := decide(of(quiet))
	if len(silent) != 1 || silent[0].What != Silent || silent[0].Machine != "b" || silent[0].Key != "machine_silent b "+millis(quiet.BeganAt) || !strings.Contains(silent[0].Body, "gh mergexo machines forget b") {
		t.Fatalf("%+v", silent)
	}
	for name, c := range map[string]struct {
		now  []work.Machine
		told []Entry
		want []Kind
	}{
		"it works, as ever":     {[]work.Machine{works}, nil, nil},
		"it works again":        {[]work.Machine{works}, silent, []Kind{Back}},
		"it is silent still":    {[]work.Machine{quiet}, silent, []Kind{Silent}}, // its key is known
		"it is paused":          {[]work.Machine{paused}, nil, nil},
		"it was paused since":   {[]work.Machine{paused}, silent, nil},
		"it was forgotten":      {nil, silent, nil},
		"another works":         {[]work.Machine{{Name: "c", BeganAt: noon, SilentAfter: time.Hour}}, silent, nil},
		"another target's news": {[]work.Machine{works}, []Entry{{Target: "mail", Machine: "b", Key: silent[0].Key}}, nil},
	} {
		f := of(c.now...)
		f.Silences = c.told
		got := decide(f)
		if !slices.Equal(whats(got), c.want) || len(got) == 1 && subject(got[0].Key) != subject(silent[0].Key) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
