package config

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Places returns the part of [runtime] that says where the state is, even if the config is invalid:
// nobody should have to repair a config before stopping everything. If the state folder is uncertain,
// Places fails: a pause file in another folder than that of the passes has no effect. If the database
// is uncertain, DatabaseAt fails.
func Places(env environ.Env) (Runtime, error) {
	path, data, err := read(env)
	if err == nil {
		var r Runtime
		if r, err = placesOf(path, strings.TrimPrefix(string(data), "\uFEFF"), env); err == nil {
			return r, nil
		}
	}
	return Runtime{}, fmt.Errorf(`find out which folder holds the state: %w
Name the config that the passes read: --config FILE`, err)
}

func placesOf(path, doc string, env environ.Env) (r Runtime, err error) {
	p, err := open(path, doc, env, "")
	if err != nil {
		line, found := stateDirLine(doc)
		if !found {
			return r, err
		}
		if p, err = open(path, line, env, ""); err != nil {
			return r, fmt.Errorf("%s: state_dir cannot be read: %s", path, strings.Join(strings.Fields(line), " "))
		}
		r.unsure = databaseLine().MatchString(doc)
	}
	p.places()
	var wrong []Problem
	for _, x := range p.problems {
		switch {
		case x.Key == "runtime", x.Key == "runtime.state_dir", x.meant == "runtime.state_dir": // a misspelt key must not be taken for a missing one
			wrong = append(wrong, x)
		case x.Key == "runtime.database", x.Key == "runtime.machine":
			r.unsure = true
		}
	}
	if len(wrong) > 0 {
		return Runtime{}, &InvalidError{wrong}
	}
	known := p.config.Runtime // of its other keys nothing is checked
	r.StateDir, r.Database, r.databaseURL, r.Machine = known.StateDir, known.Database, known.databaseURL, known.Machine
	return r, nil
}

// databaseLine matches a line of invalid TOML that may name the database.
var databaseLine = lazy.Regexp(`(?m)^[^#\n]*\bdatabase[ \t]*=`)

var stateDirKey = lazy.Regexp(`^[ \t]*(?:runtime[ \t]*\.[ \t]*)?state_dir[ \t]*=(.*)$`)

// stateDirLine extracts the line with the state folder from invalid TOML, as a config of its own.
// False if no line has that form, or more than one.
func stateDirLine(doc string) (line string, found bool) {
	line, found = "", true
	for l := range strings.Lines(doc) {
		l = strings.TrimRight(l, "\r\n")
		if strings.HasPrefix(strings.TrimLeft(l, " \t"), "#") || !strings.Contains(l, "state_dir") {
			continue
		}
		m := stateDirKey().FindStringSubmatch(l)
		if m == nil || line != "" {
			return "", false
		}
		line = "[runtime]\nstate_dir =" + m[1] + "\n"
	}
	return line, found
}
