// Package doctor judges a machine, its logins and its repositories: it turns collected facts into
// checks, each with its remedy. It asks nobody and reads nothing: the same facts give the same
// checks.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

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
	Code  Code   `json:"code"` // [all checks](doctor.md)
	Group Group  `json:"-"`
	About string `json:"about"` // a host, repository or agent; empty: this machine
	Level Level  `json:"level"` // `ok`, `warning` or `failure`
	Says  string `json:"says"`
	Do    string `json:"do"` // what fixes it

	subject int // number of the host, repository or agent that it is about; 0: this machine
}

// What returns one line that names what the check is about and what it found.
func (c Check) What() string {
	switch {
	case c.About == "":
		return c.Says
	case c.Group == forAgents || c.Group == forSandbox:
		return fmt.Sprintf("agent %q: %s", c.About, c.Says)
	}
	return c.About + ": " + c.Says
}

// Line is What with the remedy.
func (c Check) Line() string {
	if c.Do == "" {
		return c.What()
	}
	return c.What() + "; " + c.Do
}

// Run makes the checks of a place, in the order of the output: by group, and within a group all of
// one host, repository or agent together. What is well about one of them is one line.
func Run(f Facts, at Place) []Check {
	var all []Check
	for _, r := range table {
		var found []Check
		for _, q := range r.asks {
			if q.at&at != 0 {
				found = append(found, q.ask(f)...)
			}
		}
		for _, c := range oneLine(found) {
			c.Code, c.Group = r.Code, r.Group
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Check) int {
		return cmp.Or(a.Group.place()-b.Group.place(), a.subject-b.subject)
	})
	return all
}

// oneLine joins what is well about one host, repository or agent, and leaves it out if something fails.
func oneLine(found []Check) (all []Check) {
	well := map[int]int{} // index of what is well, by subject
	for _, c := range found {
		if c.Level != OK {
			all = append(all, c)
		} else if at, some := well[c.subject]; some {
			all[at].Says += "; " + c.Says
		} else {
			well[c.subject], all = len(all), append(all, c)
		}
	}
	return slices.DeleteFunc(all, func(c Check) bool {
		return c.Level == OK && slices.ContainsFunc(found, func(o Check) bool { return o.Level == Failure && o.subject == c.subject })
	})
}

// Refusal returns the first failure of a place's checks as an error; nil: nothing fails.
func Refusal(f Facts, at Place) error {
	if failed := Only(Run(f, at), Failure); len(failed) > 0 {
		return errors.New(failed[0].Line())
	}
	return nil
}

// Count returns how many checks have a level.
func Count(all []Check, level Level) int { return len(Only(all, level)) }

// Only returns the checks of these levels.
func Only(all []Check, levels ...Level) []Check {
	return slices.DeleteFunc(slices.Clone(all), func(c Check) bool { return !slices.Contains(levels, c.Level) })
}

func ok(says string) []Check       { return []Check{{Level: OK, Says: says}} }
func warn(says, do string) []Check { return []Check{{Level: Warning, Says: says, Do: do}} }
func fail(says, do string) []Check { return []Check{{Level: Failure, Says: says, Do: do}} }
