package schedule

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// starter is what starts a command line that somebody wrote: the environment, as far as it is known.
type starter struct {
	home   string
	config string // MERGEXO_CONFIG; empty: the default config
	path   string // PATH; empty: not known
}

// deepest is how many shells within shells are looked into.
const deepest = 4

// mostLine is how long a command line may be: nobody writes longer ones.
const mostLine = 1 << 14

// tick reports whether a command line of a shell runs a pass: with which config, and on which PATH.
func (s starter) tick(line string, depth int) (Hand, bool) {
	if len(line) > mostLine {
		return Hand{}, false
	}
	for _, words := range simpleCommands(line) {
		if len(words) > 0 && slices.Contains([]string{".", "source"}, words[0]) {
			s.path = "" // a profile may set it
		}
		for i, w := range words {
			after := words[i+1:]
			switch {
			case path.Base(w) == "gh" && len(after) > 0 && after[0] == "mergexo":
				after = after[1:]
			case path.Base(w) == "gh-mergexo":
			default:
				s = s.assign(w)
				if depth < deepest && strings.ContainsAny(w, " \t") {
					inner := s
					if i > 0 && strings.HasPrefix(words[i-1], "-") && strings.ContainsAny(words[i-1], "li") {
						inner.path = "" // a login shell reads profiles
					}
					if h, ok := inner.tick(w, depth+1); ok {
						return h, true
					}
				}
				continue
			}
			if config, ok := passOf(after); ok && !slices.Contains([]string{"echo", "printf"}, words[0]) {
				if config != "" {
					s.config = config
				}
				return Hand{Config: s.place(s.config), Path: s.path}, true
			}
		}
	}
	return Hand{}, false
}

// assign returns s after a word that may be NAME=value.
func (s starter) assign(word string) starter {
	name, value, _ := strings.Cut(word, "=")
	return s.with(name, value)
}

// with returns s with a variable set.
func (s starter) with(name, value string) starter {
	switch name {
	case "MERGEXO_CONFIG":
		s.config = value
	case "PATH":
		if s.path = value; strings.Contains(value, "$") {
			s.path = ""
		}
	}
	return s
}

// place is the absolute path that a config is named by, empty for the default one. Schedulers start
// commands in the home folder.
func (s starter) place(config string) string {
	if config == "" {
		return ""
	}
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(config, home); ok {
			return filepath.Join(s.home, rest)
		}
	}
	if !filepath.IsAbs(config) {
		return filepath.Join(s.home, config)
	}
	return filepath.Clean(config)
}

// passOf reports whether the arguments of gh mergexo run a pass, and the config that they name.
func passOf(args []string) (config string, ok bool) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case name == "--config" && given:
			config = value
		case name == "--config" && i+1 < len(args):
			i++
			config = args[i]
		case slices.Contains([]string{"--dry-run", "--help", "-h"}, name):
			return "", false
		case strings.HasPrefix(name, "-"):
		case args[i] == "tick":
			ok = true
		case !ok:
			return "", false
		}
	}
	return config, ok
}

// simpleCommands splits a line as a shell does: into commands, and these into words without their
// quotes. It expands nothing, and takes a quote that nobody ends until the end.
func simpleCommands(line string) (all [][]string) {
	var words []string
	var word strings.Builder
	within := false // a word, which may be empty
	endWord := func() {
		if within {
			words = append(words, word.String())
		}
		word.Reset()
		within = false
	}
	endCommand := func() {
		if endWord(); len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			if i++; i < len(line) {
				word.WriteByte(line[i])
			}
			within = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, within = c, true
		case quote != 0:
			word.WriteByte(c)
		case c == ' ' || c == '\t':
			endWord()
		case c == '#' && !within:
			endCommand()
			return all
		case c == '&' && i > 0 && line[i-1] == '>': // 2>&1
			word.WriteByte(c)
		case strings.IndexByte(";|&()\n`", c) >= 0:
			endCommand()
		default:
			word.WriteByte(c)
			within = true
		}
	}
	endCommand()
	return all
}
