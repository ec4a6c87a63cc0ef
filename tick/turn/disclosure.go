package turn

import (
	"regexp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// An agent's text appears under the operator's account. A line below it says so and how to reply to
// the agent. The line is in the planned body above the markers, because the body as planned is what
// later looks search for.

// Placeholders of the line's template.
const (
	agentWord    = "{agent}"
	operatorWord = "{operator}"
	behalf       = " on behalf of @" + operatorWord
)

// disclosure returns the line below the agent's text; empty: none. On somebody else's pull request
// it is disclosureAside, because comments there get no answer.
func (p *briefs) disclosure(l *env.Lease) string {
	if l.Item.Flow == work.FlowReview {
		return p.disclosureAside(l)
	}
	return disclose(l.Repo.Settings.Voice.Disclosure, l.Turn.Agent, p.Accounts.Operator(l.Repo.Name.Host))
}

// disclosureAside returns the line for places where comments get no answer, such as the issue for a
// flaky test.
func (p *briefs) disclosureAside(l *env.Lease) string {
	template := l.Repo.Settings.Voice.Disclosure
	if template == config.DefaultDisclosure {
		template = config.DisclosureAside
	}
	return disclose(template, l.Turn.Agent, p.Accounts.Operator(l.Repo.Name.Host))
}

// disclose fills the template. It omits an operator that cannot be mentioned, such as an app
// installation.
func disclose(template, agent, operator string) string {
	if operator == "" {
		template = strings.ReplaceAll(template, behalf, "")
		template = strings.ReplaceAll(template, "@"+operatorWord, operatorWord)
		operator = "its operator"
	}
	return strings.NewReplacer(agentWord, agent, operatorWord, operator).Replace(template)
}

// undisclosed returns a body of ours without the line, whichever agent and operator it names: an
// agent that sees its earlier text must not imitate the line.
func undisclosed(body string, v config.Voice) string {
	if v.Disclosure == "" {
		return body
	}
	const name = `[^\n]*?`
	line := strings.NewReplacer(regexp.QuoteMeta(behalf), `(?: on behalf of `+name+`)?`, regexp.QuoteMeta(agentWord), name,
		regexp.QuoteMeta("@"+operatorWord), name, regexp.QuoteMeta(operatorWord), name).Replace(regexp.QuoteMeta(v.Disclosure))
	below, err := regexp.Compile(`\n\n` + line + `(\n\n<!-- mergexo-[^\n]*-->(?:\n<!-- mergexo-[^\n]*-->)*)?\n*$`)
	if err != nil {
		return body
	}
	return below.ReplaceAllString(body, "$1")
}
