package config

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Voice is the [repo.voice] table: how published work names its author.
type Voice struct {
	Disclosure string `toml:"disclosure" default:"true" flag:"true, false, or the line to write in quotes" words:"a line on pull requests that an agent opens; or your own line, with {agent} and {operator}; false: neither texts nor commits say who wrote them"`
	Signs      string `toml:"sign_off" default:"false" flag:"true, false, or who signs, such as \"Ann Example <ann@example.com>\"" words:"true: \"Signed-off-by\" in commits with git's user.name and user.email, also as committer; or \"Name <mail>\""`

	SignOff bool   // commits get a Signed-off-by
	Signer  Person // of the sign-off, and committer; zero: the operator's identity in git
}

// Person is somebody as git names them.
type Person struct{ Name, Mail string }

// Signature returns the line below a text that does not have the disclosure: of an agent, or of
// ourselves if agent is empty. It is empty without a disclosure.
func (v Voice) Signature(agent string) string {
	if v.Disclosure == "" {
		return ""
	}
	return work.Signature(agent)
}

// DefaultDisclosure is the default line on a pull request that an agent wrote.
const DefaultDisclosure = "<sub>" + writtenBy + " To ask for a change, comment here; `/mergexo help` lists the commands.</sub>"

const writtenBy = "Written by {agent} through [gh mergexo](https://github.com/mergexo/gh-mergexo) on behalf of @{operator}."

// DisclosureAside replaces it on somebody else's pull request, where no agent will answer.
const DisclosureAside = "<sub>" + writtenBy + "</sub>"

// maxDisclosure bounds the line, in characters.
const maxDisclosure = 500

// voice checks [repo.voice].
func (p *parser) voice(t place, v *Voice) {
	if v.Disclosure == "true" {
		v.Disclosure = DefaultDisclosure
	} else if why := disclosureProblem(v.Disclosure); why != "" {
		t.bad("disclosure", "%s", why)
	}
	if v.SignOff = v.Signs != ""; !v.SignOff || v.Signs == "true" {
		return
	}
	a, err := mail.ParseAddress(v.Signs)
	if err != nil || a.Name == "" || strings.ContainsAny(a.Name+a.Address, "<>") || strings.ContainsFunc(v.Signs+a.Name+a.Address, unicode.IsControl) {
		t.bad("sign_off", `want a person as git names them, such as "Ann Example <ann@example.com>", got %q`, v.Signs)
		return
	}
	v.Signer = Person{Name: a.Name, Mail: a.Address}
}

// placeholder matches a placeholder.
var placeholder = lazy.Regexp(`\{[A-Za-z_]+\}`)

// unknownPlaceholder returns a problem with the first unknown placeholder: it would be published
// literally.
func unknownPlaceholder(text string, known ...string) string {
	for _, word := range placeholder().FindAllString(text, -1) {
		if !slices.Contains(known, word) {
			return fmt.Sprintf("contains %s, which is no placeholder; want %s", word, strings.Join(known, " or "))
		}
	}
	return ""
}

// disclosureProblem says why a text is no line for a pull request; empty: it is one.
func disclosureProblem(line string) string {
	switch {
	case line == "":
		return ""
	case strings.TrimSpace(line) != line || strings.ContainsFunc(line, unicode.IsControl):
		return "want one line, without spaces around it"
	case utf8.RuneCountInString(line) > maxDisclosure:
		return "is longer than 500 characters"
	case strings.Contains(line, "<!--") || strings.Contains(line, "-->"):
		return "holds an HTML comment, which hides what follows it"
	case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
		return "begins a block of code, which would show the markers that follow it"
	case strings.HasPrefix(line, "/mergexo"):
		return "begins like a command"
	}
	return unknownPlaceholder(line, "{agent}", "{operator}")
}
