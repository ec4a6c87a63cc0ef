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
	Disclosure string // the line on what an agent opens, with {agent} and {operator}; empty: no text says who wrote it
	SignOff    bool   // commits get a Signed-off-by
	Signer     Person // of the sign-off, and committer; zero: the operator's identity in git
}

// Person is somebody as git names them.
type Person struct{ Name, Mail string }

// String is the person as in a commit; empty for nobody.
func (p Person) String() string {
	if p == (Person{}) {
		return ""
	}
	return p.Name + " <" + p.Mail + ">"
}

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

// voiceKeys are the keys of [repo.voice].
func voiceKeys(v *Voice) []key {
	return []key{
		ownKey("disclosure", func(t *Table) { v.Disclosure = disclosure(t, "disclosure") }, func() any { return v.Disclosure }).says("a line on pull requests that an agent opens; or your own line, with {agent} and {operator}; false: neither texts nor commits say who wrote them").shown("true").orFlag(),
		ownKey("sign_off", func(t *Table) { v.SignOff, v.Signer = signOff(t, "sign_off") }, func() any {
			if v.SignOff && v.Signer != (Person{}) {
				return v.Signer.String()
			}
			return v.SignOff
		}).says(`true: "Signed-off-by" in commits with git's user.name and user.email, also as committer; or "Name <mail>"`).orFlag(),
	}
}

func (p *parser) voice(t *Table) (v Voice) {
	readKeys(t, voiceKeys(&v))
	t.done()
	return v
}

// signOff reads true, false, or the signer.
func signOff(t *Table, key string) (bool, Person) {
	const want = `want true, false, or who signs, such as "Ann Example <ann@example.com>"`
	v, _ := t.Get(key)
	switch x := v.(type) {
	case string:
		if isFlag(x) {
			t.bad(key, "%s; write %s without quotes", want, x)
		}
		if x == "" || isFlag(x) {
			return false, Person{}
		}
		return true, person(t, key)
	case nil, bool:
		return t.flag(key, false), Person{}
	default:
		t.bad(key, "%s, got %s", want, typeName(x))
	}
	return false, Person{}
}

// isFlag reports a true or false in quotes.
func isFlag(text string) bool { return text == "true" || text == "false" }

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

// disclosure reads true, false, or the line itself.
func disclosure(t *Table, key string) string {
	v, ok := t.Get(key)
	if !ok {
		return DefaultDisclosure
	}
	switch x := v.(type) {
	case bool:
		if x {
			return DefaultDisclosure
		}
	case string:
		if why := disclosureProblem(x); why != "" {
			t.bad(key, "%s", why)
		}
		return x
	default:
		t.bad(key, "want true, false, or the line to write in quotes, got %s", typeName(v))
	}
	return ""
}

func disclosureProblem(line string) string {
	switch {
	case line == "":
		return ""
	case isFlag(line):
		return "want true, false, or the line to write in quotes; write " + line + " without quotes"
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

// person reads "Name <mail>".
func person(t *Table, key string) Person {
	text := t.text(key, "")
	if text == "" {
		return Person{}
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Name == "" || strings.ContainsAny(a.Name+a.Address, "<>") || strings.ContainsFunc(text+a.Name+a.Address, unicode.IsControl) {
		t.bad(key, `want a person as git names them, such as "Ann Example <ann@example.com>", got %q`, text)
		return Person{}
	}
	return Person{Name: a.Name, Mail: a.Address}
}
