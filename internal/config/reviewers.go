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
	Name        string      `toml:"name" show:"quinn" required:"name = \"quinn\", or another word" words:"\"quinn\" (quality), \"sam\" (security) and \"priya\" (product) are built in, with a persona each"`
	Persona     string      `toml:"persona" show:"quinn" words:"what the reviewer looks at, in your words, or the name of a built-in reviewer"` // empty: the common instructions
	Agent       string      `toml:"agent" words:"the agent of this reviewer, of [agents.*]; default: review_agent of the repository"`
	Account     string      `toml:"account" words:"the gh account that approves and requests changes; default: gh's own, which only comments"`
	Login       string      `toml:"login" words:"a person instead of an agent: their login, such as \"octocat\"; \"octocat:583231\" also fixes the account"`
	CanEscalate []string    `toml:"can_escalate" show:"[\"sam\"]" words:"reviewers that it may call in, who must then approve, too"`
	Flows       []work.Flow `toml:"flows" show:"[\"implementation\", \"bugfix\", \"small_job\", \"review\"]" words:"which pull requests it reviews; also \"design\", \"roadmap\"; \"review\": those of others with the label; []: only when called in"`

	Human   bool  // Login names a person
	LoginID int64 // id of the account with this login; 0: not given
	Line    int   // line of its table; 0: it has none
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

// reviewers checks [[repo.reviewers]]; without any, it returns the default one.
func (p *parser) reviewers(path string, all []Reviewer) []Reviewer {
	if len(all) == 0 {
		first, _ := builtInReviewer(defaultReviewer)
		first.Flows = reviewedFlows()
		return []Reviewer{first}
	}
	at := func(i int) place { return p.at(path + "[" + strconv.Itoa(i) + "]") }
	for i := range all {
		p.reviewer(at(i), &all[i])
		checkTwins(at(i), all[i], all[:i])
	}
	for i, x := range all { // once all names are known
		checkEscalations(at(i), x, all)
	}
	return all
}

// reviewer checks one table. With the name of a built-in reviewer, its settings are the defaults.
func (p *parser) reviewer(t place, x *Reviewer) {
	x.Line = p.lines().find(t.path)
	if !t.has("flows") {
		x.Flows = reviewedFlows()
	}
	if t.has("name") && !isReviewerName(x.Name) {
		t.bad("name", "%q is no name for a reviewer; want lower-case letters and digits, joined by single hyphens, at most %d characters", x.Name, maxReviewerName)
	}
	if x.Human = x.Login != ""; x.Human {
		person(t, x)
		return
	}
	built, ok := builtInReviewer(x.Name)
	switch {
	case ok && !t.has("can_escalate"):
		x.CanEscalate = built.CanEscalate
	case !ok && isReviewerName(x.Name) && !slices.ContainsFunc([]string{"persona", "agent", "account"}, t.has):
		near, and := meant(x.Name, builtInNames(), "%q"), "; for"
		if near != "" {
			and = " For"
		}
		t.bad("name", "%q is not built in%s%s a person write login, for an agent persona", x.Name, near, and)
	}
	p.persona(t, x)
	x.Persona = cmp.Or(x.Persona, built.Persona)
	if x.Agent != "" {
		p.checkAgentName(t.to("agent"), t.called("agent"), x.Agent)
	}
	if x.Account != "" && !login().MatchString(x.Account) {
		t.bad("account", "%q is no GitHub login; gh auth status shows those that gh has", x.Account)
	}
}

// person checks the table of a person.
func person(t place, x *Reviewer) {
	if why := LoginProblem(x.Login); why != "" {
		t.bad("login", "%s", why)
	} else {
		name, id, _ := strings.Cut(x.Login, ":")
		x.Login = name
		x.LoginID, _ = strconv.ParseInt(id, 10, 64)
	}
	for _, given := range [][2]string{{"persona", x.Persona}, {"agent", x.Agent}, {"account", x.Account}} {
		if given[1] != "" {
			t.bad(given[0], "a person has none, and login makes this reviewer one; remove one of the two lines")
		}
	}
}

// checkTwins rejects two reviewers with the same name or for the same person.
func checkTwins(t place, x Reviewer, before []Reviewer) {
	for _, other := range before {
		switch {
		case x.Name != "" && other.Name == x.Name:
			t.bad("name", "%q is named twice; the other is on line %d", x.Name, other.Line)
		case x.Login != "" && strings.EqualFold(other.Login, x.Login):
			t.bad("login", "%s is reviewer %q already, on line %d; one person gives one approval", x.Login, other.Name, other.Line)
		}
	}
}

func checkEscalations(t place, x Reviewer, all []Reviewer) {
	known := builtInNames()
	for _, other := range all {
		known = append(known, other.Name)
	}
	for _, name := range x.CanEscalate {
		switch {
		case name == x.Name:
			t.bad("can_escalate", "%q is the reviewer itself; name others", name)
		case !slices.Contains(known, name):
			t.bad("can_escalate", "there is no reviewer %q%s", name, cmp.Or(meant(name, known, "%q"), "; name one of [[repo.reviewers]], or one that is built in: "+strings.Join(builtInNames(), ", ")))
		}
	}
}

func (x Reviewer) looksAt(flow work.Flow) bool { return slices.Contains(x.Flows, flow) }

// asWritten returns the reviewer as its table has it.
func (x Reviewer) asWritten() Reviewer {
	if x.LoginID != 0 {
		x.Login += ":" + strconv.FormatInt(x.LoginID, 10)
	}
	for _, built := range builtInReviewers() {
		if built.Persona == x.Persona {
			x.Persona = built.Name
		}
	}
	return x
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
