// This file says in our words why a document is no TOML.

package config

import (
	"errors"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

func syntaxError(name string, err error) error {
	p := Problem{File: name, Text: err.Error()}
	if pe, ok := errors.AsType[toml.ParseError](err); ok {
		p.Line, p.Text = pe.Position.Line, pe.Message
		if p.Text == "" {
			p.Text = strings.TrimPrefix(pe.Error(), "toml: ")
		}
	}
	p.Text = syntaxSays(p.Text)
	return &InvalidError{Problems: []Problem{p}}
}

// syntaxWords translate the library's messages about invalid TOML for people who do not know TOML
// by heart.
var syntaxWords = []struct {
	theirs string // a regular expression
	ours   string
}{
	{`^expected value but found ['"][“”„‘’]`, "a quote is \" or ', not “ or ‘; write the quotes again"},
	{`^expected value but found "[A-Za-z_./~-]`, "a text stands in quotes, as in name = \"acme/greet\"; true and false are in small letters"},
	{`^expected value but found`, "a value is missing behind the ="},
	{`^strings cannot contain newlines|^unexpected EOF; expected '["\']'`, "a text in quotes does not end on its line"},
	{`^Key '(?:.*\.)?([^'.]+)' has already been defined`, "$1 stands there twice; keep one of the two"},
	{`^expected '\.' or '=', but got '(.*)' instead`, "a line is key = value; a key is followed by $1"},
	{`^unexpected '='`, "a key is missing in front of the ="},
	{`^expected '\.' or '\]' to end table name|^expected end of table array name`, "the name of a table does not end: write [name], or [[name]] for one of several (the line before)"},
	{`^expected a comma \(','\) or array terminator`, "a list is not closed by ], or lacks a comma"},
	{`^expected a comma or an inline table terminator`, "a table in braces is not closed by }, or lacks a comma"},
	{`^expected a top-level item to end with a newline.*but got '(.*)' instead`, "something stands behind the value: $1"},
	{`^invalid escape in string '(.*)'`, "in double quotes \\ begins an escape, and $1 is none; write the text in single quotes"},
	{`^(?i:invalid (?:float|integer|number|datetime)[^"']*)["'](.*)["']`, "\"$1\" is no value; a text stands in quotes"},
	{`hexadecimal digits after|^Escaped character|^invalid escape`, "in double quotes \\ begins an escape, and this is none; write the text in single quotes"},
	{`^unexpected comma`, "there is a comma too many"},
	{`^unexpected (?:end of table name|table separator)`, "the name of a table is missing between the brackets"},
	{`out of range`, "the number is too large"},
	{`^newlines not allowed`, "a table in braces does not end on its line"},
	{`control characters|^invalid UTF-8`, "there is a character that is no text; write the line again"},
	{`^unexpected EOF; expected value`, "a value is missing behind the ="},
	{`^unexpected EOF`, "the file ends within a text, a key or a list"},
}

// syntaxElse is the message about all other invalid TOML.
const syntaxElse = "this cannot be read; a line is key = value, a text stands in quotes, and [name] begins a table"

// syntaxSays returns the message about invalid TOML.
func syntaxSays(theirs string) string {
	theirs = strings.Join(strings.Fields(theirs), " ")
	for _, w := range syntaxWords {
		form := regexp.MustCompile(w.theirs) // compiled here: most runs read a valid document
		if m := form.FindStringSubmatchIndex(theirs); m != nil {
			return string(form.ExpandString(nil, w.ours, theirs, m))
		}
	}
	return syntaxElse
}
