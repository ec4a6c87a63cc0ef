package config

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// StateDir reads where the state is from a config that need not be valid: whoever
// must stop everything at once does not repair a config first. Where nothing is
// certain it fails: a pause in another folder than that of the passes is none.
func StateDir(env environ.Env) (string, error) {
	path, data, err := read(env)
	if err == nil {
		var dir string
		if dir, err = stateDirOf(path, strings.TrimPrefix(string(data), "\uFEFF"), env); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf(`find out which folder holds the state: %w
Name the config that the passes read: --config FILE. Or make an empty file "paused.json" in the state folder by hand: that pauses everything, too`, err)
}

func stateDirOf(path, doc string, env environ.Env) (string, error) {
	whole, err := document.Open(path, doc)
	if err != nil {
		line, found := stateDirLine(doc)
		if !found {
			return "", err
		}
		if whole, err = document.Open(path, line); err != nil {
			return "", fmt.Errorf("%s: state_dir cannot be read: %s", path, strings.Join(strings.Fields(line), " "))
		}
	}
	p := parser{Table: whole, env: env}
	run := p.Sub("runtime", "[runtime]")
	dir := p.stateDir(run)
	for _, name := range run.Keys() { // one that is spelled wrongly is not to be taken for none
		if name != "state_dir" && work.Nearest(name, []string{"state_dir"}) != "" {
			p.Add(run.At(name), "unknown key %q; did you mean state_dir?", name)
		}
	}
	if err := p.Err(); err != nil {
		return "", err
	}
	return dir, nil
}

var stateDirKey = lazy.Regexp(`^[ \t]*(?:runtime[ \t]*\.[ \t]*)?state_dir[ \t]*=(.*)$`)

// stateDirLine is a config in which nothing but the state folder is said, made of
// one that is no TOML. False where it is said in no such way, or more than once.
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
