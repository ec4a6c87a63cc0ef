package config_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// TestSyntaxIsToldInOurWords: what people mistype is told so that they see it.
func TestSyntaxIsToldInOurWords(t *testing.T) {
	for text, want := range map[string]string{
		`agent = codex`:           `:1: a text stands in quotes, as in name = "acme/greet"; true and false are in small letters`,
		`name = acme/greet`:       `:1: a text stands in quotes, as in name = "acme/greet"; true and false are in small letters`,
		`name = “acme/greet”`:     `:1: a quote is " or ', not “ or ‘; write the quotes again`,
		`overlap = True`:          `:1: a text stands in quotes, as in name = "acme/greet"; true and false are in small letters`,
		"workers =\n":             ":1: a value is missing behind the =",
		`agent = "codex`:          ":1: a text in quotes does not end on its line",
		"a = 1\na = 2":            ":2: a stands there twice; keep one of the two",
		"[runtime]\n[runtime]\n":  ":2: runtime stands there twice",
		"[r]\na = 1\na = 2":       ":3: a stands there twice",
		"my key = 3":              ":1: a line is key = value; a key is followed by k",
		"= 3":                     ":1: a key is missing in front of the =",
		"[runtime\n":              "the name of a table does not end: write [name]",
		"[[repo]\n":               "the name of a table does not end: write [name]",
		`args = ["a", "b"`:        "a list is not closed by ], or lacks a comma",
		`p = { input = 1`:         "a table in braces is not closed by }, or lacks a comma",
		`name = 'x'y`:             ":1: something stands behind the value: y",
		`test_file_regex = "\d+"`: `:1: in double quotes \ begins an escape, and \d is none; write the text in single quotes`,
		`version = 1.2.3`:         `:1: "1.2.3" is no value; a text stands in quotes`,
		"a = \"\x00\"":            ":1: this cannot be read; a line is key = value",
		"a = \"\x01\"":            ":1: there is a character that is no text",
		"a = 0b2":                 ":1: this cannot be read; a line is key = value",
	} {
		_, err := parse(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestNoSyntaxIsToldInTheLibrarysWords: wherever a character of the example is lost or doubled, the
// message is ours.
func TestNoSyntaxIsToldInTheLibrarysWords(t *testing.T) {
	testhome.NotShort(t)
	example := config.Example() + "[a]\nb = [1, 2.5, \"x\\u00e4\", 'y']\nc = { d = 2026-11-27, e = \"\"\"\nf\"\"\" }\n"
	told := 0
	for i := range example {
		for _, text := range []string{example[:i] + example[i+1:], example[:i] + example[i:i+1] + example[i:], example[:i] + "\x01" + example[i:], example[:i]} {
			if strings.HasPrefix(example[i:], " ") || i%21 != 0 && i < len(config.Example()) {
				continue // enough of the comments
			}
			var values map[string]any
			_, theirs := toml.Decode(text, &values)
			if theirs == nil {
				continue
			}
			_, ours := parse(t, text)
			parsed, _ := errors.AsType[toml.ParseError](theirs)
			if said := ours.Error(); parsed.Message != "" && strings.Contains(said, parsed.Message) || strings.Contains(said, "EOF") || strings.Contains(said, "toml: ") {
				t.Errorf("%q: %s", text[max(0, i-20):min(len(text), i+20)], said)
			}
			told++
		}
	}
	if told < 150 {
		t.Errorf("only %d mistakes were tried", told)
	}
}

// TestEachProblemHasItsLine: a mistake on any line of the example is told with that line.
func TestEachProblemHasItsLine(t *testing.T) {
	lines := strings.Split(uncomment.ReplaceAllString(config.Example(), "$1"), "\n")
	told := 0
	for i, line := range lines {
		key, _, isKey := strings.Cut(line, " = ")
		if !isKey || strings.HasPrefix(line, "#") {
			continue
		}
		changed := slices.Clone(lines)
		changed[i] = "no_such_" + line
		if _, err := parse(t, strings.Join(changed, "\n")); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("config.toml:%d: unknown key \"no_such_%s\"", i+1, key)) {
			t.Errorf("line %d: %v", i+1, err)
		}
		told++
	}
	if told < 60 {
		t.Errorf("only %d lines have a key", told)
	}
}
