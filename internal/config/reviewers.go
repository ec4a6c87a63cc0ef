package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Reviewer is one [[repo.reviewers]] table, or a built-in reviewer.
type Reviewer struct {
	Name        string
	Human       bool        // Login names a person
	Persona     string      // of an agent: its review instructions; empty: the common ones
	Agent       string      // name in Config.Agents; empty: the repository's agent of reviews
	Account     string      // GitHub account of an agent's reviews; empty: gh's own login
	Login       string      // of a person
	LoginID     int64       // id of the account with this login; 0: not given
	CanEscalate []string    // reviewers that it may call in
	Flows       []work.Flow // flows whose pull requests it reviews; empty: only if it is called in
	Line        int         // line of its table; 0: it has none
}

// maxReviewerName bounds a reviewer's name, in characters: it is part of keys.
const maxReviewerName = 39

// reviewerName matches names that fit into the key of an event, a trailer of a commit and an HTML
// comment, and that people can type.
var reviewerName = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func isReviewerName(name string) bool {
	return reviewerName().MatchString(name) && len(name) <= maxReviewerName
}

// reviewedFlows are the flows that a reviewer reviews by default. Designs are left to people.
func reviewedFlows() []work.Flow {
	return []work.Flow{work.FlowImplementation, work.FlowBugfix, work.FlowSmallJob, work.FlowReview}
}

// reviewers reads [[repo.reviewers]]; without any, it returns the default one.
func (p *parser) reviewers(tables []*Table) []Reviewer {
	if len(tables) == 0 {
		first, _ := builtInReviewer(defaultReviewer)
		first.Flows = reviewedFlows()
		return []Reviewer{first}
	}
	var all []Reviewer
	for _, t := range tables {
		x := p.reviewer(t)
		p.checkTwins(t, x, all)
		all = append(all, x)
	}
	for i, t := range tables { // once all names are known
		p.checkEscalations(t, all[i], all)
	}
	return all
}

// reviewer reads one table. With the name of a built-in reviewer, its settings are the defaults.
func (p *parser) reviewer(t *Table) Reviewer {
	x := Reviewer{Name: t.text("name", ""), Line: p.line(t.Path())}
	p.checkReviewerName(t, x.Name)
	written := t.text("login", "")
	if x.Human = written != ""; x.Human {
		p.person(t, &x, written)
	} else {
		p.agentReviewer(t, &x)
	}
	if t.has("can_escalate") {
		x.CanEscalate = t.texts("can_escalate")
	}
	t.Get("can_escalate")
	x.Flows = p.flows(t)
	t.done()
	return x
}

func (p *parser) checkReviewerName(t *Table, name string) {
	v, written := t.Get("name")
	_, isText := v.(string)
	switch {
	case !written:
		t.missing("name", `missing; write name = "quinn", or another word`)
	case isText && !isReviewerName(name):
		t.bad("name", "%q is no name for a reviewer; want lower-case letters and digits, joined by single hyphens, at most %d characters", name, maxReviewerName)
	}
}

// agentReviewer reads the keys of an agent's table.
func (p *parser) agentReviewer(t *Table, x *Reviewer) {
	built, ok := builtInReviewer(x.Name)
	if ok {
		x.Persona, x.CanEscalate = built.Persona, built.CanEscalate
	}
	if !ok && isReviewerName(x.Name) && !slices.ContainsFunc([]string{"persona", "agent", "account"}, t.has) {
		near, and := meant(x.Name, strings.Split(builtInNames(), ", "), "%q"), "; for"
		if near != "" {
			and = " For"
		}
		t.bad("name", "%q is not built in%s%s a person write login, for an agent persona", x.Name, near, and)
	}
	p.persona(t, x)
	x.Agent = t.text("agent", "")
	if x.Agent != "" {
		p.checkAgentName(t.at("agent"), "agent in [[repo.reviewers]]", x.Agent)
	}
	x.Account = t.text("account", "")
	if x.Account != "" && !login().MatchString(x.Account) {
		t.bad("account", "%q is no GitHub login; gh auth status shows those that gh has", x.Account)
	}
}

// person reads the keys of a person's table.
func (p *parser) person(t *Table, x *Reviewer, written string) {
	if why := LoginProblem(written); why != "" {
		t.bad("login", "%s", why)
	} else {
		name, id, _ := strings.Cut(written, ":")
		x.Login = name
		x.LoginID, _ = strconv.ParseInt(id, 10, 64)
	}
	for _, key := range []string{"persona", "agent", "account"} {
		if t.text(key, "") != "" {
			t.bad(key, "a person has none, and login makes this reviewer one; remove one of the two lines")
		}
	}
}

// checkTwins rejects two reviewers with the same name or for the same person.
func (p *parser) checkTwins(t *Table, x Reviewer, before []Reviewer) {
	for _, other := range before {
		switch {
		case x.Name != "" && other.Name == x.Name:
			t.bad("name", "%q is named twice; the other is on line %d", x.Name, other.Line)
		case x.Login != "" && strings.EqualFold(other.Login, x.Login):
			t.bad("login", "%s is reviewer %q already, on line %d; one person gives one approval", x.Login, other.Name, other.Line)
		}
	}
}

func (p *parser) checkEscalations(t *Table, x Reviewer, all []Reviewer) {
	var names []string
	for _, other := range slices.Concat(builtInReviewers(), all) {
		names = append(names, other.Name)
	}
	for _, name := range x.CanEscalate {
		switch {
		case name == x.Name:
			t.bad("can_escalate", "%q is the reviewer itself; name others", name)
		case !slices.Contains(names, name):
			t.bad("can_escalate", "there is no reviewer %q%s", name, cmp.Or(meant(name, names, "%q"), "; name one of [[repo.reviewers]], or one that is built in: "+builtInNames()))
		}
	}
}

// flows reads the flows whose pull requests a reviewer reviews.
func (p *parser) flows(t *Table) []work.Flow {
	const key = "flows"
	if _, written := t.Get(key); !written {
		return reviewedFlows()
	}
	known := append(work.Flows(), work.FlowReview)
	out := []work.Flow{}
	for _, name := range t.texts(key) {
		if f := work.Flow(name); slices.Contains(known, f) {
			out = append(out, f)
			continue
		}
		t.bad(key, "there is no flow %q; want %s", name, quoted(known))
	}
	return out
}

func (x Reviewer) looksAt(flow work.Flow) bool { return slices.Contains(x.Flows, flow) }

// login formats a person's login as in the config.
func (x Reviewer) login() string {
	if x.LoginID == 0 {
		return x.Login
	}
	return x.Login + ":" + strconv.FormatInt(x.LoginID, 10)
}

// printed returns the keys of its table.
func (x Reviewer) printed() []key {
	persona := x.Persona
	for _, built := range builtInReviewers() {
		if built.Persona == persona {
			persona = built.Name
		}
	}
	login := x.login()
	return []key{
		textKey("name", &x.Name, "").says(`"quinn" (quality), "sam" (security) and "priya" (product) are built in, with a persona each`).shown(`"quinn"`).must(),
		textKey("persona", &persona, "").says("what the reviewer looks at, in your words, or the name of a built-in reviewer").shown(`"quinn"`).only(!x.Human),
		textKey("agent", &x.Agent, "").says("the agent of this reviewer, of [agents.*]; default: review_agent of the repository").only(!x.Human),
		textKey("account", &x.Account, "").says("the gh account that approves and requests changes; default: gh's own, which only comments").only(!x.Human),
		textKey("login", &login, "").says(`a person instead of an agent: their login, such as "octocat"; "octocat:583231" also fixes the account`),
		textsKey("can_escalate", &x.CanEscalate).says("reviewers that it may call in, who must then approve, too").shown(`["sam"]`),
		of(ownKey("flows", nil, func() any { return orEmpty(x.Flows) }).says(`which pull requests it reviews; also "design", "roadmap"; "review": those of others with the label; []: only when called in`), append(work.Flows(), work.FlowReview)...),
	}
}

// asReviewer returns the reviewer without its persona and other fields that only its turns need.
func (x Reviewer) asReviewer() review.Reviewer {
	return review.Reviewer{
		Name: x.Name, Human: x.Human, Login: x.Login, LoginID: x.LoginID, Account: x.Account, MayCallIn: x.CanEscalate, ConfigLine: x.Line,
	}
}

// Speaks returns the login of the reviewer's own account on GitHub; empty: an agent that speaks as gh's.
func (x Reviewer) Speaks() string {
	if x.Human {
		return x.Login
	}
	return x.Account
}

// Allows reports whether allowed_users names a login: its words count without write permission.
func (r Repo) Allows(login string) bool {
	return slices.ContainsFunc(r.AllowedUsers, func(entry string) bool {
		named, _, _ := strings.Cut(entry, ":")
		return strings.EqualFold(named, login)
	})
}

// Reviewer returns a reviewer of the repository by name, or a built-in one.
func (r Repo) Reviewer(name string) (Reviewer, bool) {
	for _, x := range r.Reviewers {
		if x.Name == name {
			return x, true
		}
	}
	return builtInReviewer(name)
}

// CheckAccounts rejects reviewers' accounts that gh does not know. known returns gh's accounts on a
// host; none if gh does not tell.
func (c *Config) CheckAccounts(known func(host string) []string) error {
	var invalid InvalidError
	for _, r := range c.Repos {
		for _, x := range r.Reviewers {
			if !r.Review.Enabled || x.Account == "" {
				continue
			}
			names := known(r.Name.Host)
			if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, x.Account) }) {
				continue
			}
			invalid.Problems = append(invalid.Problems, Problem{File: c.Path, Line: x.Line, Key: "repo.reviewers", Text: fmt.Sprintf(
				"account in [[repo.reviewers]]: gh knows no account %q on %s%s", x.Account, r.Name.Host,
				cmp.Or(meant(x.Account, names, "%q"), ", only "+strings.Join(names, ", ")+"; log in with it: gh auth login --hostname "+r.Name.Host))})
		}
	}
	if len(invalid.Problems) > 0 {
		return &invalid
	}
	return nil
}
