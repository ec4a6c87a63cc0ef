package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const on = "[repo.review]\nenabled = true\n"

// Without [[repo.reviewers]], quinn reviews code changes and may call in sam. Designs are left to
// people.
func TestReviewersThatAreBuiltIn(t *testing.T) {
	c, err := parse(t, minimal+on)
	if err != nil {
		t.Fatal(err)
	}
	for flow, want := range map[work.Flow]string{
		work.FlowImplementation: "quinn", work.FlowBugfix: "quinn", work.FlowSmallJob: "quinn", work.FlowReview: "quinn", work.FlowDesign: "",
	} {
		p := c.Repos[0].ReviewPolicy(flow)
		if got := names(p.Order); got != want || p.Off() != (want == "") {
			t.Errorf("%s is reviewed by %q, off: %v; want %q", flow, got, p.Off(), want)
		}
		if p.MaxFixCycles != 2 || p.RequireHuman || p.Blocking != review.Major {
			t.Errorf("%s: %+v", flow, p)
		}
		if quinn := p.Pool["quinn"]; !slices.Equal(quinn.MayCallIn, []string{"sam"}) || p.Pool["sam"].MayCallIn != nil || p.Pool["priya"].Name == "" {
			t.Errorf("%s: pool %+v", flow, p.Pool)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"quinn", "sam", "priya"} {
		x, ok := c.Repos[0].Reviewer(name)
		if !ok || x.Human || len(x.Persona) < 500 || seen[x.Persona] || !strings.Contains(x.Persona, "critical") {
			t.Errorf("%s: %v, %q", name, ok, x.Persona)
		}
		seen[x.Persona] = true
	}
}

func names(all []review.Reviewer) string {
	var out []string
	for _, r := range all {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

// A repository with reviews disabled has no policy, whatever its reviewers.
func TestReviewsThatAreOff(t *testing.T) {
	for _, doc := range []string{minimal + "[repo.review]\nenabled = false\nrequire_human_approval = true\n", minimal + "[[repo.reviewers]]\nname = \"sam\"\n[repo.review]\nenabled = false\n"} {
		c, err := parse(t, doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(work.Flows(), work.FlowReview) {
			if p := c.Repos[0].ReviewPolicy(f); !p.Off() {
				t.Errorf("%s: %+v from\n%s", f, p, doc)
			}
		}
	}
}

func TestEverySettingOfReviewsIsRead(t *testing.T) {
	doc := minimal + `review_agent = "claude"
[repo.review]
enabled = true
max_fix_cycles = 0
require_human_approval = true
blocking_severity = "minor"
auto_merge = false
[[repo.reviewers]]
name = "mora-2"
persona = "Look at what is missing."
agent = "codex"
account = "mora-bot"
can_escalate = ["ann", "sam"]
flows = ["design", "small_job"]
[[repo.reviewers]]
name = "quinn"
can_escalate = []
[[repo.reviewers]]
name = "wide"
persona = "sam"
[[repo.reviewers]]
name = "ann"
login = "Ann-Example:42"
can_escalate = ["quinn"]
flows = []
`
	c, err := parse(t, doc)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Repos[0]
	p := r.ReviewPolicy(work.FlowSmallJob)
	if names(p.Order) != "mora-2 quinn wide" || names(r.ReviewPolicy(work.FlowDesign).Order) != "mora-2" {
		t.Errorf("small jobs by %q, designs by %q", names(p.Order), names(r.ReviewPolicy(work.FlowDesign).Order))
	}
	if p.MaxFixCycles != 0 || !p.RequireHuman || p.Blocking != review.Minor {
		t.Errorf("%+v", p)
	}
	mora, ann := p.Pool["mora-2"], p.Pool["ann"]
	if mora.Human || mora.Account != "mora-bot" || mora.ConfigLine != 14 || !slices.Equal(mora.MayCallIn, []string{"ann", "sam"}) {
		t.Errorf("mora: %+v", mora)
	}
	if !ann.Human || ann.Login != "Ann-Example" || ann.LoginID != 42 || !slices.Equal(ann.MayCallIn, []string{"quinn"}) {
		t.Errorf("ann: %+v", ann)
	}
	if len(p.Pool["quinn"].MayCallIn) != 0 {
		t.Errorf("quinn may call in %q though the config says nobody", p.Pool["quinn"].MayCallIn)
	}
	if x, _ := r.Reviewer("mora-2"); x.Persona != "Look at what is missing." {
		t.Errorf("mora's persona is %q", x.Persona)
	}
	wide, _ := r.Reviewer("wide")
	if sam, _ := r.Reviewer("sam"); wide.Persona != sam.Persona {
		t.Errorf("who has sam's persona by name has %q", wide.Persona)
	}
	for _, x := range []struct {
		kind           work.Kind
		reviewer, want string
	}{
		{work.KindReview, "mora-2", "codex"},
		{work.KindReview, "quinn", "claude"},
		{work.KindReview, "sam", "claude"},          // built in
		{work.KindReview, "who has left", "claude"}, // the config
		{work.KindFix, "mora-2", "mine"},            // the author fixes what a reviewer requests
		{work.KindImplementationFeedback, "", "mine"},
	} {
		if a, ok := c.AgentFor(r.Name, x.kind, x.reviewer); !ok || a.Name != x.want {
			t.Errorf("%s of %q: agent %q, want %q", x.kind, x.reviewer, a.Name, x.want)
		}
	}
}

// An account that gh does not know is an error, as gh's files list its accounts. If they do not, or
// nothing is reviewed, there is no error.
func TestAccountsThatGhDoesNotKnow(t *testing.T) {
	table := "[[repo.reviewers]]\nname = \"quinn\"\naccount = \"quin-bot\"\n"
	for _, c := range []struct {
		doc, want string
		known     []string
	}{
		{on + table, "", nil},
		{on + table, "", []string{"op", "Quin-Bot"}},
		{"[repo.review]\nenabled = false\n" + table, "", []string{"op"}},
		{on + table, `config.toml:9: account in [[repo.reviewers]]: gh knows no account "quin-bot" on github.com; did you mean "quinn-bot"?`, []string{"op", "quinn-bot"}},
		{on + table, `config.toml:9: account in [[repo.reviewers]]: gh knows no account "quin-bot" on github.com, only ann, op; log in with it: gh auth login --hostname github.com`, []string{"ann", "op"}},
	} {
		cfg, err := parse(t, minimal+c.doc)
		if err != nil {
			t.Fatal(err)
		}
		err = cfg.CheckAccounts(func(host string) []string {
			if host != "github.com" {
				t.Errorf("asked about %s", host)
			}
			return c.known
		})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("gh knows %q: %v", c.known, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("gh knows %q: %v, want %s", c.known, err, c.want)
		}
	}
}

func TestMistakesAboutReviewsAreNamed(t *testing.T) {
	one := func(line string) string {
		return "[[repo.reviewers]]\nname = \"x\"\npersona = \"Look.\"\n" + line + "\n"
	}
	person := func(line string) string {
		return "[[repo.reviewers]]\nname = \"x\"\nlogin = \"ann\"\n" + line + "\n"
	}
	for _, c := range []struct{ name, doc, want string }{
		{"two of one name", one("") + one(""), `:12: name in [[repo.reviewers]]: "x" is named twice; the other is on line 7`},
		{"two for one person", person("") + "[[repo.reviewers]]\nname = \"y\"\nlogin = \"Ann\"\n", `:13: login in [[repo.reviewers]]: Ann is reviewer "x" already, on line 7; one person gives one approval`},
		{"no name", "[[repo.reviewers]]\npersona = \"x\"\n", `:7: name in [[repo.reviewers]]: missing; write name = "quinn"`},
		{"a name that is no text", "[[repo.reviewers]]\nname = 1\n", `:8: name in [[repo.reviewers]]: want text in quotes, got a whole number`},
		{"an empty name", "[[repo.reviewers]]\nname = \"\"\n", `:8: name in [[repo.reviewers]]: "" is no name for a reviewer`},
		{"a name with a capital", "[[repo.reviewers]]\nname = \"Quinn\"\n", `:8: name in [[repo.reviewers]]: "Quinn" is no name for a reviewer; want lower-case letters and digits`},
		{"a name with a colon", "[[repo.reviewers]]\nname = \"a:b\"\n", `:8: name in [[repo.reviewers]]: "a:b" is no name`},
		{"a name that ends a comment", "[[repo.reviewers]]\nname = \"a--b\"\n", `:8: name in [[repo.reviewers]]: "a--b" is no name`},
		{"a name that is too long", "[[repo.reviewers]]\nname = \"" + strings.Repeat("a", 40) + "\"\n", `is no name for a reviewer`},
		{"a call for nobody", one(`can_escalate = ["quin"]`), `:10: can_escalate in [[repo.reviewers]]: there is no reviewer "quin"; did you mean "quinn"?`},
		{"a call for nobody near", one(`can_escalate = ["legal"]`), `:10: can_escalate in [[repo.reviewers]]: there is no reviewer "legal"; name one of [[repo.reviewers]], or one that is built in: quinn, sam, priya`},
		{"a call for oneself", one(`can_escalate = ["x"]`), `:10: can_escalate in [[repo.reviewers]]: "x" is the reviewer itself`},
		{"a name that may be a person's", "[[repo.reviewers]]\nname = \"ann\"\n", `:8: name in [[repo.reviewers]]: "ann" is not built in; for a person write login, for an agent persona`},
		{"a misspelt name", "[[repo.reviewers]]\nname = \"quin\"\n", `:8: name in [[repo.reviewers]]: "quin" is not built in; did you mean "quinn"? For a person write login, for an agent persona`},
		{"a blank persona", "[[repo.reviewers]]\nname = \"x\"\npersona = \" \"\n", `:9: persona in [[repo.reviewers]]: it is empty; say what the reviewer looks at`},
		{"an unknown agent", one(`agent = "mnie"`), `:10: agent in [[repo.reviewers]]: unknown agent "mnie"; did you mean "mine"?`},
		{"an account that is none", one(`account = "@bot"`), `:10: account in [[repo.reviewers]]: "@bot" is no GitHub login; gh auth status shows those that gh has`},
		{"a persona that is long", "[[repo.reviewers]]\nname = \"x\"\npersona = \"" + strings.Repeat("x", 64<<10+1) + "\"\n", `persona in [[repo.reviewers]]: it is longer than 65536 bytes`},
		{"a person with an account", person(`account = "bot"`), `:10: account in [[repo.reviewers]]: a person has none, and login makes this reviewer one; remove one of the two lines`},
		{"a person with a persona", one(`login = "ann"`), `:9: persona in [[repo.reviewers]]: a person has none`},
		{"a person with an agent", person(`agent = "mine"`), `:10: agent in [[repo.reviewers]]: a person has none`},
		{"a login that is none", "[[repo.reviewers]]\nname = \"x\"\nlogin = \"a b\"\n", `:9: login in [[repo.reviewers]]: "a b" is no GitHub login, nor one with its account's id`},
		{"an unknown flow", one(`flows = ["bugfix", "small-job"]`), `:10: flows in [[repo.reviewers]]: want "bugfix", "small_job", "design", "implementation", "roadmap" or "review", got "small-job"; did you mean "small_job"?`},
		{"an unknown key", one(`can_esclate = ["sam"]`), `:10: unknown key "can_esclate" in [[repo.reviewers]]; did you mean "can_escalate"?`},
		{"fewer than no fixes", "[repo.review]\nmax_fix_cycles = -1\n", `:8: max_fix_cycles in [repo.review]: want 0 to 100, got -1`},
		{"too many fixes", "[repo.review]\nmax_fix_cycles = 101\n", `:8: max_fix_cycles in [repo.review]: want 0 to 100, got 101`},
		{"an unknown severity", "[repo.review]\nblocking_severity = \"blocking\"\n", `:8: blocking_severity in [repo.review]: want "critical", "major", "minor" or "nit", got "blocking"`},
		{"reviewers as a list", "[repo.review]\nreviewers = [\"quinn\"]\n", `:8: unknown key "reviewers" in [repo.review]; did you mean [[repo.reviewers]], below its [[repo]]?`},
		{"one table of reviewers", "[repo.reviewers]\nname = \"x\"\n", `:7: reviewers in [[repo]]: want [[repo.reviewers]] in two brackets, as there may be several, got a table`},
		{"reviewers outside a repository", "[[reviewers]]\nname = \"x\"\n", `:7: unknown table [reviewers]; did you mean [[repo.reviewers]], below its [[repo]]?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(t, minimal+c.doc)
			if err == nil {
				t.Fatal("accepted")
			}
			if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant one line with %s", got, c.want)
			}
		})
	}
}

// Reviewers who are gh's own account, and so the author, are reported.
func TestReviewersWhoAreTheAuthor(t *testing.T) {
	person := "[[repo.reviewers]]\nname = \"boss\"\nlogin = \"Ann:42\"\n[[repo.reviewers]]\nname = \"quinn\"\naccount = \"ann\"\n"
	for doc, want := range map[string]int{minimal + on + person: 1, minimal + on: 0, minimal + "[repo.review]\nenabled = false\n" + person: 0} {
		c, err := parse(t, doc)
		if err != nil {
			t.Fatal(err)
		}
		got := config.AuthorDoubts(c, func(host string) string { return map[string]string{"github.com": "ann"}[host] })
		if len(got) != want || want == 1 && (!strings.Contains(got[0], `reviewer "boss" of `) || !strings.Contains(got[0], " is Ann, the account that gh is logged in as")) {
			t.Errorf("%q from\n%s", got, doc)
		}
		if got := config.AuthorDoubts(c, func(string) string { return "" }); len(got) > 0 {
			t.Errorf("nobody knows who is logged in: %q", got)
		}
	}
}

func TestWhatWasMeantIsSaid(t *testing.T) {
	for lines, want := range map[string]string{
		"[[repo.reviewers]]\nname = \"a\"\npersona = \"quin\"\n": `"quin" is no built-in reviewer; did you mean "quinn"?`,
		"[[repo]]\nname = \"octo/app.git\"\n":                    `"octo/app.git" ends in .git, as addresses do; write "octo/app"`,
	} {
		if _, err := parse(t, oneRepo+lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
	if _, err := parse(t, oneRepo+"[[repo.reviewers]]\nname = \"a\"\npersona = \"security\"\n"); err != nil {
		t.Error("a word of one's own:", err)
	}
}
