package document

import (
	"regexp"
	"strings"
)

// The library's words for what is no TOML, and ours: people who write a config know
// neither of them by heart.
var syntaxWords = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`^expected value but found "([A-Za-z_./~-][^"]*)" instead`), "a text stands in quotes: write \"$1\", or true or false in small letters"},
	{regexp.MustCompile(`^expected value but found`), "a value is missing behind the ="},
	{regexp.MustCompile(`^strings cannot contain newlines|^unexpected EOF; expected '["\']'`), "a text in quotes does not end on its line"},
	{regexp.MustCompile(`^Key '(?:.*\.)?([^'.]+)' has already been defined`), "$1 stands there twice; keep one of the two"},
	{regexp.MustCompile(`^expected '\.' or '=', but got '(.*)' instead`), "a line is key = value; a key is followed by $1"},
	{regexp.MustCompile(`^unexpected '='`), "a key is missing in front of the ="},
	{regexp.MustCompile(`^expected '\.' or '\]' to end table name|^expected end of table array name`), "the name of a table does not end: write [name], or [[name]] for one of several (the line before)"},
	{regexp.MustCompile(`^expected a comma \(','\) or array terminator`), "a list is not closed by ], or lacks a comma"},
	{regexp.MustCompile(`^expected a comma or an inline table terminator`), "a table in braces is not closed by }, or lacks a comma"},
	{regexp.MustCompile(`^expected a top-level item to end with a newline.*but got '(.*)' instead`), "something stands behind the value: $1"},
	{regexp.MustCompile(`^invalid escape in string '(.*)'`), "in double quotes \\ begins an escape, and $1 is none; write the text in single quotes"},
	{regexp.MustCompile(`^(?i:invalid (?:float|integer|number|datetime)[^"]*)"(.*)"`), "\"$1\" is no value; a text stands in quotes"},
}

// syntaxSays is what is wrong with a document that is no TOML.
func syntaxSays(theirs string) string {
	theirs = strings.Join(strings.Fields(theirs), " ")
	for _, w := range syntaxWords {
		if m := w.theirs.FindStringSubmatchIndex(theirs); m != nil {
			return string(w.theirs.ExpandString(nil, w.ours, theirs, m))
		}
	}
	return "it is no TOML: " + theirs
}
