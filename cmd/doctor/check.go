package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// check is one check. Programs read its code, so that never changes.
type check struct {
	code  string
	title string // for the docs: what it checks
	run   func(context.Context, *exam) []Result
}

// group is a part of the set-up.
type group struct {
	name, heading string
	checks        []check
}

// groups are all checks, in the order of the output. What status says is not said again.
func groups() []group {
	return []group{
		{"config", "Config", configChecks()},
		{"github", "GitHub", accountChecks()},
		{"repositories", "Repositories", repositoryChecks()},
		{"agents", "Agents", agentChecks()},
		{"sandbox", "Sandbox", sandboxChecks()},
		{"machine", "This machine", machineChecks()},
		{"schedule", "Schedule", scheduleChecks()},
	}
}

// Row is a check for the docs.
type Row struct{ Code, Group, Title string }

// Table returns all checks.
func Table() (all []Row) {
	for _, g := range groups() {
		for _, c := range g.checks {
			all = append(all, Row{c.code, g.name, c.title})
		}
	}
	return all
}

// Level is the result of a check.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, or may work, but somebody should know
	Failure Level = "failure" // something does not work until it is fixed
)

// Result is what a check found.
type Result struct {
	Code  string `json:"code"`  // [all checks](doctor.md)
	About string `json:"about"` // a host, repository or agent; empty: this machine
	Level Level  `json:"level"` // `ok`, `warning` or `failure`
	Says  string `json:"says"`
	Do    string `json:"do"` // what fixes it

	heading string // of its group
	subject int    // number of the host, repository or agent that it is about; 0: this machine
	agent   bool   // it is about an agent
}

// What returns one line that names what the finding is about and says it.
func (f Result) What() string {
	switch {
	case f.About == "":
		return f.Says
	case f.agent:
		return fmt.Sprintf("agent %q: %s", f.About, f.Says)
	}
	return f.About + ": " + f.Says
}

// Line is What with the remedy.
func (f Result) Line() string {
	if f.Do == "" {
		return f.What()
	}
	return f.What() + "; " + f.Do
}

// Only returns the findings of these levels.
func Only(all []Result, levels ...Level) []Result {
	return slices.DeleteFunc(slices.Clone(all), func(f Result) bool { return !slices.Contains(levels, f.Level) })
}

func ok(says string) []Result       { return []Result{{Level: OK, Says: says}} }
func warn(says, do string) []Result { return []Result{{Level: Warning, Says: says, Do: do}} }
func fail(says, do string) []Result { return []Result{{Level: Failure, Says: says, Do: do}} }

// failure is fail of a trouble; nil: there is none.
func failure(t *machine.Trouble) []Result {
	if t == nil {
		return nil
	}
	return fail(t.Says, t.Do)
}

// run makes all checks side by side. Within a group all findings about one host, repository or agent
// stand together.
func run(ctx context.Context, e *exam) (all []Result) {
	parts := groups()
	found := make([][][]Result, len(parts))
	var checks sync.WaitGroup
	for i, g := range parts {
		found[i] = make([][]Result, len(g.checks))
		for j, c := range g.checks {
			checks.Go(func() {
				found[i][j] = c.run(ctx, e)
				for k := range found[i][j] {
					f := &found[i][j][k]
					f.Code, f.heading = c.code, g.heading
				}
			})
		}
	}
	checks.Wait()
	for _, of := range found {
		part := slices.Concat(of...)
		sorted.By(part, func(a, b Result) int { return cmp.Compare(a.subject, b.subject) })
		all = append(all, part...)
	}
	return all
}

// Limits of a question: how long it may take, and of how many hosts, repositories or agents it is asked at a time.
const (
	askTime = 30 * time.Second
	atOnce  = 4
)

// question is asked about a host, a repository, an agent or, with nil, this machine.
type question[T any] func(ctx context.Context, e *exam, about T) []Result

// here asks about this machine.
func here(questions ...func(context.Context, *exam) []Result) func(context.Context, *exam) []Result {
	return func(ctx context.Context, e *exam) (all []Result) {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		for _, ask := range questions {
			all = append(all, ask(ctx, e)...)
		}
		return oneLine(all)
	}
}

func hosts(questions ...question[*host]) func(context.Context, *exam) []Result {
	return func(ctx context.Context, e *exam) []Result { return each(ctx, e, e.hosts, questions) }
}

func repos(questions ...question[*repo]) func(context.Context, *exam) []Result {
	return func(ctx context.Context, e *exam) []Result { return each(ctx, e, e.repos, questions) }
}

func agents(questions ...question[machine.Agent]) func(context.Context, *exam) []Result {
	return func(ctx context.Context, e *exam) []Result { return each(ctx, e, e.agents(), questions) }
}

// each asks about hosts, repositories or agents.
func each[T any](ctx context.Context, e *exam, all []T, questions []question[T]) []Result {
	found := make([][]Result, len(all))
	turns := make(chan struct{}, atOnce)
	var asked sync.WaitGroup
	for i, one := range all {
		asked.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			ctx, cancel := context.WithTimeout(ctx, askTime)
			defer cancel()
			for _, ask := range questions {
				found[i] = append(found[i], ask(ctx, e, one)...)
			}
			found[i] = oneLine(found[i])
			for j := range found[i] {
				f := &found[i][j]
				f.subject = i + 1
				switch one := any(one).(type) {
				case *host:
					f.About = one.name
				case *repo:
					f.About = one.called
				case machine.Agent:
					f.About, f.agent = one.Name, true
				}
			}
		})
	}
	asked.Wait()
	return slices.Concat(found...)
}

// oneLine joins what a check found well, and leaves it out if something fails.
func oneLine(found []Result) (all []Result) {
	fails := slices.ContainsFunc(found, func(f Result) bool { return f.Level == Failure })
	well := -1
	for _, f := range found {
		switch {
		case f.Level != OK:
			all = append(all, f)
		case fails:
		case well >= 0:
			all[well].Says += "; " + f.Says
		default:
			well, all = len(all), append(all, f)
		}
	}
	return all
}
