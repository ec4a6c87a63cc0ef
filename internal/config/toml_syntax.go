package config

import (
	"regexp"
	"strings"
)

// syntaxWords translate the library's messages about invalid TOML for people who do not know TOML
// by heart.
var syntaxWords = []struct {
	theirs string // a regular expression
	ours   string
}{
	{`^expected value but found "([A-Za-z_./~-][^"]*)" instead`, "a text stands in quotes: write \"$1\", or true or false in small letters"},
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
	{`^(?i:invalid (?:float|integer|number|datetime)[^"]*)"(.*)"`, "\"$1\" is no value; a text stands in quotes"},
}

// syntaxSays returns the message about invalid TOML.
func syntaxSays(theirs string) string {
	theirs = strings.Join(strings.Fields(theirs), " ")
	for _, w := range syntaxWords {
		form := regexp.MustCompile(w.theirs) // compiled here: most runs read a valid document
		if m := form.FindStringSubmatchIndex(theirs); m != nil {
			return string(form.ExpandString(nil, w.ours, theirs, m))
		}
	}
	return "it is no TOML: " + theirs
}
