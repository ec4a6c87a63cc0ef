// Package doctor judges a machine, its logins and its repositories: what was found out
// about them becomes checks, each with what mends it. It asks nobody and reads nothing:
// the same facts give the same checks.
package doctor

import "slices"

// Level is how a check came out.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, or may work, and somebody should know
	Failure Level = "failure" // something does not work until it is mended
)

// Check is one thing that was looked at.
type Check struct {
	Code  Code   `json:"code"`            // what was looked at; it stays as it is
	Group Group  `json:"group"`           // which part of the set-up it belongs to
	About string `json:"about,omitempty"` // the host, repository or agent; empty: this machine
	Level Level  `json:"level"`           // `ok`, `warning` or `failure`
	Says  string `json:"says"`            // what was found, for people
	Do    string `json:"do,omitempty"`    // what mends it
}

// Checks judges everything that was found out, in the order in which people read it.
func Checks(f Facts) []Check {
	var all []Check
	for _, judge := range []func(Facts) []Check{config, github, repositories, agents, sandboxes, machine, schedule} {
		all = append(all, judge(f)...)
	}
	return all
}

// Count says how many checks came out so.
func Count(all []Check, level Level) int {
	n := 0
	for _, c := range all {
		if c.Level == level {
			n++
		}
	}
	return n
}

// Only are the checks of a level.
func Only(all []Check, level Level) []Check {
	return slices.DeleteFunc(slices.Clone(all), func(c Check) bool { return c.Level != level })
}

// about makes checks about one thing.
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
