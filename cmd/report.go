package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// passView is the JSON output of a pass, a dry run, or a skipped pass.
type passView struct {
	StartedAt time.Time         `json:"startedAt"`
	EndedAt   time.Time         `json:"endedAt"`
	Skipped   string            `json:"skipped"`      // why there was no pass
	Repos     []env.RepoReport  `json:"repositories"` // that it read
	Turns     []env.TurnReport  `json:"turns"`
	Merges    []env.MergeReport `json:"merges"`
	Plan      []planLine        `json:"plan"`   // with --dry-run, what a pass would do
	Held      string            `json:"held"`   // why no turn may start, for example a spent budget
	Paused    *cli.HaltView     `json:"paused"` // null: not everything is
}

// writePass prints a pass as JSON.
func (a *app) writePass(v passView) error {
	v.StartedAt, v.EndedAt = v.StartedAt.UTC(), v.EndedAt.UTC()
	v.Repos, v.Turns, v.Merges, v.Plan = terminal.OrEmpty(v.Repos), terminal.OrEmpty(v.Turns), terminal.OrEmpty(v.Merges), terminal.OrEmpty(v.Plan)
	for i, r := range v.Repos {
		v.Repos[i].Warnings, v.Repos[i].Causes = terminal.OrEmpty(r.Warnings), terminal.OrEmpty(r.Causes)
	}
	return a.JSON.Write(a.Output(), v)
}

// printHalted reports that no pass runs because everything is paused. A terminal or JSON gets it
// each time, a scheduler once per pause, and a detached pass never: nobody reads its output.
func (a *app) printHalted(h *folder.Halt, opt *tickOptions, cfg *config.Config) error {
	if h == nil {
		return nil
	}
	if !a.JSON.Asked() {
		watched := opt.dryRun || a.Output().TTY
		if watched || !opt.detach && !opt.detached && folder.At(cfg.Runtime.StateDir).ShouldReportHalt(*h) {
			a.PrintHalt(h)
		}
		return nil
	}
	now := a.Now()
	return a.writePass(passView{StartedAt: now, EndedAt: now, Skipped: cli.HaltSays(*h), Paused: cli.ViewHalt(h)})
}

// printReport prints what the pass did. An idle pass prints nothing.
func (a *app) printReport(ctx context.Context, rep *env.Report, opt *tickOptions, cfg *config.Config) error {
	out := a.Output()
	if rep.Halt != nil {
		return a.printHalted(rep.Halt, opt, cfg)
	}
	if a.JSON.Asked() {
		v := passView{StartedAt: rep.StartedAt, EndedAt: rep.EndedAt, Skipped: rep.Skipped, Repos: rep.Repos(), Turns: rep.Turns(), Merges: rep.Merges(), Held: rep.Held}
		if err := a.writePass(v); err != nil {
			return err
		}
		return failedRepos(rep.Repos(), len(cfg.Repos))
	}
	once := a.reportOnce(opt, cfg)
	var others []string
	if out.TTY && rep.Idle() {
		others = status.OtherPasses(ctx, a.App, cfg)
	}
	if err := printDone(out, rep, others, once); err != nil {
		return err
	}
	a.printAgents(rep, once)
	a.printMachines(rep, once)
	a.printTrouble(rep.Repos(), opt.failures)
	if opt.now && limited(rep.Repos()) {
		fmt.Fprintln(a.Env.Stderr, "GitHub's rate limits apply to --now, too")
	}
	return failedRepos(rep.Repos(), len(cfg.Repos))
}

// printDone prints the results of turns and merges, and what other passes do.
func printDone(out terminal.Output, rep *env.Report, others []string, once outcomeFilter) error {
	switch {
	case out.TTY && rep.Held != "":
		fmt.Fprint(out.W, out.Fit(out.Ours(rep.Held)+"\n"))
	case out.TTY && rep.Idle():
		fmt.Fprint(out.W, out.Fit(out.Ours(idleNote(rep, others))+"\n"))
	case out.TTY:
		for _, line := range leftLines(rep.Repos()) {
			fmt.Fprint(out.W, out.Fit(out.Ours(line)+"\n"))
		}
	}
	if rows := rowsToTell(out, rep, once); len(rows) > 0 {
		err := out.Table([]string{"ITEM", "WHAT", "OUTCOME", "REASON", "LINK"}, rows)
		if err == nil && out.TTY && rep.Held == "" && rep.Due > 0 {
			_, err = fmt.Fprintln(out.W, out.Ours(fmt.Sprintf("due and not begun: %s; gh mergexo tick --dry-run says what the next pass does", work.Count(rep.Due, "turn"))))
		}
		return err
	}
	if out.TTY && rep.Held == "" && !rep.Idle() && !unread(rep.Repos()) {
		fmt.Fprint(out.W, out.Fit(out.Ours(cmp.Or(wroteSays(rep.Repos()), "no turn was needed")+"; gh mergexo status shows the state of every item\n")))
	}
	return nil
}

// wroteSays is how much the pass wrote on GitHub beside turns; empty: nothing.
func wroteSays(repos []env.RepoReport) string {
	wrote := 0
	for _, r := range repos {
		wrote += r.Wrote
	}
	if wrote == 0 {
		return ""
	}
	return "written to GitHub: " + work.Count(wrote, "change")
}

// outcomeFilter tells for each outcome whether it must still be printed; nil: all must.
type outcomeFilter func([]folder.Outcome, time.Time) []bool

// reportOnce prints each waiting outcome only once under a scheduler, which mails every line. A
// terminal shows all, and nobody reads a detached pass.
func (a *app) reportOnce(opt *tickOptions, cfg *config.Config) outcomeFilter {
	if a.Output().TTY || opt.detached {
		return nil
	}
	return folder.At(cfg.Runtime.StateDir).OutcomesToReport
}

// rowsToTell returns the lines of turns and merges.
func rowsToTell(out terminal.Output, rep *env.Report, once outcomeFilter) [][]string {
	var rows [][]string
	for _, t := range rep.Turns() {
		if t.Code == work.WhyMachineFault || t.Code.OfAgent() { // a line of the pass says it once for all
			continue
		}
		rows = append(rows, []string{t.Repo + "#" + strconv.Itoa(t.Number), out.Words(string(t.Kind)), t.Outcome, out.Ours(t.Reason), t.URL})
	}
	for _, m := range rep.Merges() {
		rows = append(rows, []string{m.Repo + "#" + strconv.Itoa(m.Number), "merge", string(m.Outcome), out.Ours(mergeSays(m)), m.URL})
	}
	if once == nil {
		return rows
	}
	tell := once(terminal.Each(rows, func(row []string) folder.Outcome {
		return folder.Outcome{Key: row[0] + " " + row[1], Says: row[3], Waits: row[2] == string(env.VerdictWait) || row[2] == string(env.MergeWaits)}
	}), rep.EndedAt)
	var told [][]string
	for i, row := range rows {
		if tell[i] {
			told = append(told, row)
		}
	}
	return told
}

// printAgents reports the agents that cannot work.
func (a *app) printAgents(rep *env.Report, once outcomeFilter) {
	a.printOnce(rep, once, terminal.Each(rep.StoppedAgents(), func(o work.Outage) folder.Outcome {
		said := explain.Reason(o.Why, explain.Place{})
		return folder.Outcome{Key: "agent " + o.Agent + " " + work.Stamp(o.Since), Says: said.Here() + "; " + said.Fix, Waits: true}
	}))
}

// printMachines reports the machines that are silent, or whose passes fail, once for each silence.
func (a *app) printMachines(rep *env.Report, once outcomeFilter) {
	a.printOnce(rep, once, terminal.Each(rep.Machines, func(m work.Machine) folder.Outcome {
		says, do := m.Says(rep.StartedAt)
		return folder.Outcome{Key: fmt.Sprintf("machine %s %d", m.Name, m.BeganAt.UnixMilli()), Says: says + "; " + do, Waits: true}
	}))
}

// printOnce prints what lasts from pass to pass: under a scheduler once.
func (a *app) printOnce(rep *env.Report, once outcomeFilter, lines []folder.Outcome) {
	tell := slices.Repeat([]bool{true}, len(lines))
	if once != nil && len(lines) > 0 {
		tell = once(lines, rep.EndedAt)
	}
	for i, l := range lines {
		if tell[i] {
			fmt.Fprintln(a.Env.Stderr, a.Output().Ours(l.Says))
		}
	}
}

// mergeSays is the result of a merge in a sentence.
func mergeSays(m env.MergeReport) string {
	switch m.Outcome {
	case env.MergeDone:
		said := fmt.Sprintf("merged #%d", m.Number)
		if m.Method != "" { // a merge queue chooses its own
			said += " (" + m.Method + ")"
		}
		if said += fmt.Sprintf(" as %s into %s", work.Short(m.Commit), m.Base); m.Differs != "" {
			said += "; what landed is not what was approved: " + m.Differs
		}
		return terminal.OneLine(said)
	case env.MergeQueued:
		return fmt.Sprintf("put #%d into the merge queue of %s", m.Number, m.Base)
	case env.MergeLeft:
		return fmt.Sprintf("took #%d out of the merge queue of %s", m.Number, m.Base)
	case env.MergeUpdated:
		return fmt.Sprintf("brought #%d up to date with %s", m.Number, m.Base)
	case env.MergeWaits, env.MergeBlocked:
	}
	return terminal.OneLine(fmt.Sprintf("#%d is not merged: %s", m.Number, m.Reason))
}

// unread reports whether a repository could not be read: then that is printed instead.
func unread(repos []env.RepoReport) bool {
	return slices.ContainsFunc(repos, func(r env.RepoReport) bool { return r.Failed || r.Replaced != "" })
}

func idleNote(rep *env.Report, others []string) string {
	if rep.Skipped != "" {
		return rep.Skipped + "; nothing done"
	}
	waits, left, nothing := waitLines(rep.Repos()), leftLines(rep.Repos()), "nothing to do"
	if len(others) > 0 {
		nothing = "nothing else to do\n" + strings.Join(others, "\n")
	}
	asked := len(rep.Repos()) == 0 || slices.ContainsFunc(rep.Repos(), func(r env.RepoReport) bool { return r.Ingested || r.Failed })
	switch {
	case len(left) > 0:
		return strings.Join(append(left, waits...), "\n")
	case len(waits) == 0:
		return nothing
	case asked:
		return strings.Join(append([]string{nothing}, waits...), "\n")
	}
	return strings.Join(append(waits, "GitHub was not asked; gh mergexo tick --now asks at once"), "\n")
}

// limited reports whether GitHub's rate limit is reached.
func limited(repos []env.RepoReport) bool {
	return slices.ContainsFunc(repos, func(r env.RepoReport) bool {
		return slices.ContainsFunc(r.Causes, func(c env.Cause) bool { return c.Code == env.CauseLimit })
	})
}

func (a *app) printTrouble(repos []env.RepoReport, x *failures) {
	for _, line := range causeLines(repos, x) {
		fmt.Fprintln(a.Env.Stderr, line)
	}
	var shared cli.SharedLines
	for _, r := range repos {
		if r.Replaced != "" {
			shared.Add(r.Repo, r.Replaced)
		}
		for _, w := range r.Warnings {
			shared.Add(r.Repo, w)
		}
	}
	for _, line := range shared.Lines() {
		fmt.Fprintln(a.Env.Stderr, line)
	}
}

// causeLines returns why repositories were not read: one line per cause, with the repositories that
// share it. Those of a failure that was printed within the hour are left out.
func causeLines(repos []env.RepoReport, x *failures) []string {
	var shared cli.SharedLines
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		for _, c := range r.Causes {
			if more, tell := x.tell(c.Failure); tell {
				shared.Add(r.Repo, c.Text+more)
			}
		}
	}
	return shared.Lines()
}

// leftLines returns what is left to read of repositories that were not read completely.
func leftLines(repos []env.RepoReport) []string {
	return noteLines(repos, func(r env.RepoReport) bool { return r.Ingested && !r.Failed })
}

// waitLines returns why a pass did not read some repositories.
func waitLines(repos []env.RepoReport) []string {
	return noteLines(repos, func(r env.RepoReport) bool { return !r.Ingested && !r.Failed })
}

// noteLines returns the notes of the repositories that some selects.
func noteLines(repos []env.RepoReport, some func(env.RepoReport) bool) []string {
	var shared cli.SharedLines
	for _, r := range repos {
		if !some(r) || r.Note == "" {
			continue
		}
		shared.Add(r.Repo, r.Note)
		if r.Until != nil {
			shared.Until(r.Note, *r.Until)
		}
	}
	return shared.Lines()
}

// unreadError means that no repository could be read; the causes are printed above it.
type unreadError struct{ login bool } // login: the cause is a missing login

func (*unreadError) Error() string { return "no repository could be read" }

// unreadAs gives an unreadError the code of the first cause.
func unreadAs(login bool, repos []env.RepoReport) error {
	coded := &cli.CodedError{Code: cli.CodeFailed, Err: &unreadError{login: login}}
	if i := slices.IndexFunc(repos, func(r env.RepoReport) bool { return len(r.Causes) > 0 }); i >= 0 {
		cause := repos[i].Causes[0]
		coded.Code, coded.Do = cli.OfTrouble(cause.Code), cause.Text
	}
	return coded
}

// failedRepos returns an error if a pass could not read any repository: then the setup is wrong. If
// only some are broken, they are reported, and the pass succeeds.
func failedRepos(repos []env.RepoReport, configured int) error {
	failed, logins := 0, 0
	for _, r := range repos {
		if !r.Failed {
			continue
		}
		failed++
		if slices.ContainsFunc(r.Causes, func(c env.Cause) bool { return c.Code == github.TroubleLogin }) {
			logins++
		}
	}
	if failed > 0 && failed == len(repos) && (configured == 1 || failed > 1 || len(repos) == 1) {
		return unreadAs(logins == failed, repos)
	}
	return nil
}
