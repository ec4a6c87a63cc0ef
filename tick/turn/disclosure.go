package turn

import (
	"regexp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// What an agent wrote appears under the operator's account. A line below it says
// so, and how to talk to the agent. It is part of the body as it is planned, above
// the markers: what is looked for afterwards is that body.

// The words that the line's template may hold.
const (
	AgentWord    = "{agent}"
	operatorWord = "{operator}"
	behalf       = " on behalf of @" + operatorWord
)

// Disclosure is the line below what the turn's agent wrote; empty: there is none. On
// somebody else's pull request nobody is answered.
func (p *briefs) Disclosure(l *env.Lease) string {
	if l.Item.Flow == work.FlowReview {
		return p.DisclosureAside(l)
	}
	return disclose(l.Repo.Settings.Voice.Disclosure, l.Turn.Agent, p.Accounts.Operator(l.Repo.Name.Host))
}

// DisclosureAside is the line where nobody is answered, as on an issue for a flaky
// test.
func (p *briefs) DisclosureAside(l *env.Lease) string {
	template := l.Repo.Settings.Voice.Disclosure
	if template == config.DefaultDisclosure {
		template = config.DisclosureAside
	}
	return disclose(template, l.Turn.Agent, p.Accounts.Operator(l.Repo.Name.Host))
}

// disclose fills the template. An account that nobody can name, such as that of an
// installation, is left out.
func disclose(template, agent, operator string) string {
	if operator == "" {
		template = strings.ReplaceAll(template, behalf, "")
		template = strings.ReplaceAll(template, "@"+operatorWord, operatorWord)
		operator = "its operator"
	}
	return strings.NewReplacer(AgentWord, agent, operatorWord, operator).Replace(template)
}

// undisclosed is a body of ours without the line, whatever agent and operator it
// named: an agent that is shown what it said before shall not write one itself.
func undisclosed(body string, v config.Voice) string {
	if v.Disclosure == "" {
		return body
	}
	const name = `[^\n]*?`
	line := strings.NewReplacer(regexp.QuoteMeta(behalf), `(?: on behalf of `+name+`)?`, regexp.QuoteMeta(AgentWord), name,
		regexp.QuoteMeta("@"+operatorWord), name, regexp.QuoteMeta(operatorWord), name).Replace(regexp.QuoteMeta(v.Disclosure))
	below, err := regexp.Compile(`\n\n` + line + `(\n\n<!-- mergexo-[^\n]*-->(?:\n<!-- mergexo-[^\n]*-->)*)?\n*$`)
	if err != nil {
		return body
	}
	return below.ReplaceAllString(body, "$1")
}
