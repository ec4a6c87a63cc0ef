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
	Disclosure string   // the line on what an agent opens, with {agent} and {operator}; empty: no text says who wrote it
	Author     Person   // of commits; zero: the operator's identity in git, else gh's account
	Committer  Person   // of commits; zero: the signer, else the operator's identity in git, else the author
	SignOff    bool     // commits get a Signed-off-by
	Signer     Person   // of the sign-off; zero: the operator's identity in git
	Trailers   []string // of commits, in addition to those that recovery needs, with {agent}
	Spending   bool     // show costs on GitHub, too
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

// defaultTrailers returns the default trailers of every commit.
func defaultTrailers() []string { return []string{"Assisted-by: {agent}"} }

// voiceKeys are the keys of [repo.voice].
func voiceKeys(v *Voice) []key {
	return []key{
		ownKey("disclosure", func(t *Table) { v.Disclosure = disclosure(t, "disclosure") }, func() any { return v.Disclosure }),
		personKey("author", &v.Author),
		personKey("committer", &v.Committer),
		ownKey("sign_off", func(t *Table) { v.SignOff, v.Signer = signOff(t, "sign_off") }, func() any {
			if v.SignOff && v.Signer != (Person{}) {
				return v.Signer.String()
			}
			return v.SignOff
		}),
		textsKeyOr("trailers", &v.Trailers, defaultTrailers()),
		flagKey("spending", &v.Spending, false),
	}
}

func personKey(name string, to *Person) key {
	return ownKey(name, func(t *Table) { *to = person(t, name) }, func() any { return to.String() })
}

func (p *parser) voice(t *Table) (v Voice) {
	readKeys(t, voiceKeys(&v))
	for _, line := range v.Trailers {
		if why := trailerProblem(line); why != "" {
			t.bad("trailers", "%q %s", line, why)
		}
	}
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

// trailerForm is a trailer as git reads it.
var trailerForm = lazy.Regexp(`^([A-Za-z][A-Za-z0-9-]*): (\S.*)$`)

func trailerProblem(line string) string {
	m := trailerForm().FindStringSubmatch(line)
	if m == nil || strings.ContainsFunc(line, unicode.IsControl) {
		return `is no trailer; want a word, a colon and a value in one line, such as "Assisted-by: {agent}"`
	}
	key := strings.ToLower(m[1])
	switch {
	case strings.HasPrefix(key, "mergexo-"):
		return "is written by gh mergexo itself; remove it"
	case key == "signed-off-by":
		return "vouches for somebody; use sign_off"
	}
	return unknownPlaceholder(m[2], "{agent}")
}
