package tick

import (
	"regexp"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// What an agent wrote appears under the operator's account. A line below it says
// so, and how to talk to the agent. It is part of the body as it is planned, above
// the markers: what is looked for afterwards is that body.

// The words that the line's template may hold.
const (
	agentWord    = "{agent}"
	operatorWord = "{operator}"
	behalf       = " on behalf of @" + operatorWord
)

// disclosure is the line below what the turn's agent wrote; empty: there is none.
func (p *Briefs) disclosure(l *lease) string {
	return disclose(l.remote.Settings.Voice.Disclosure, l.turn.Agent, p.accounts.operator(l.remote.Name.Host))
}

// disclosureAside is the line where nobody is answered, as on an issue for a flaky
// test.
func (p *Briefs) disclosureAside(l *lease) string {
	template := l.remote.Settings.Voice.Disclosure
	if template == config.DefaultDisclosure {
		template = config.DisclosureAside
	}
	return disclose(template, l.turn.Agent, p.accounts.operator(l.remote.Name.Host))
}

// disclose fills the template. An account that nobody can name, such as that of an
// installation, is left out.
func disclose(template, agent, operator string) string {
	if operator == "" {
		template = strings.ReplaceAll(template, behalf, "")
		template = strings.ReplaceAll(template, "@"+operatorWord, operatorWord)
		operator = "its operator"
	}
	return strings.NewReplacer(agentWord, agent, operatorWord, operator).Replace(template)
}

// undisclosed is a body of ours without the line, whatever agent and operator it
// named: an agent that is shown what it said before shall not write one itself.
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

// below is the line with the blank line that follows it.
func (l *lease) below() string {
	if l.disclosure == "" {
		return ""
	}
	return l.disclosure + "\n\n"
}

// signed marks what an agent wrote, with the line below it.
func (c *composer) signed(text string, m work.Marks) string {
	return prompts.Bounded(text, c.l.disclosure, m)
}

// unsigned is the text of a body that signed made.
func (c *composer) unsigned(body string, m work.Marks) string {
	text := strings.TrimSuffix(body, work.Mark("", m))
	if c.l.disclosure != "" {
		text = strings.TrimSuffix(text, "\n\n"+c.l.disclosure)
	}
	return text
}
