// Package doctor judges a machine, its logins and its repositories: it turns collected facts into
// checks, each with its remedy. It asks nobody and reads nothing: the same facts give the same
// checks.
package doctor

import "slices"

// Level is the result of a check.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, or may work, but somebody should know
	Failure Level = "failure" // something does not work until it is fixed
)

// Check is one check and its result.
type Check struct {
	Code  Code   `json:"code"`            // the check; codes do not change between releases
	Group Group  `json:"group"`           // which part of the setup it belongs to
	About string `json:"about,omitempty"` // the host, repository or agent; empty: this machine
	Level Level  `json:"level"`           // `ok`, `warning` or `failure`
	Says  string `json:"says"`            // what was found, for people
	Do    string `json:"do,omitempty"`    // what fixes it
}

// Checks judges all facts, in the order of the output.
func Checks(f Facts) []Check {
	var all []Check
	for _, judge := range []func(Facts) []Check{config, github, repositories, agents, sandboxes, machine, schedule} {
		all = append(all, judge(f)...)
	}
	return all
}

// Count returns how many checks have a level.
func Count(all []Check, level Level) int {
	n := 0
	for _, c := range all {
		if c.Level == level {
			n++
		}
	}
	return n
}

// Only returns the checks of a level.
func Only(all []Check, level Level) []Check {
	return slices.DeleteFunc(slices.Clone(all), func(c Check) bool { return c.Level != level })
}

// about collects checks about one thing.
type about struct {
	name string
	all  []Check
}

func (a *about) add(code Code, level Level, says, do string) {
	a.all = append(a.all, Check{Code: code, Group: code.group(), About: a.name, Level: level, Says: says, Do: do})
}

func (a *about) ok(code Code, says string)       { a.add(code, OK, says, "") }
func (a *about) warn(code Code, says, do string) { a.add(code, Warning, says, do) }
func (a *about) fail(code Code, says, do string) { a.add(code, Failure, says, do) }
