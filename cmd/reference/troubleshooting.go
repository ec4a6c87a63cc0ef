package reference

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// troubleshootingPage lists every code of a reason and of a doctor check.
func troubleshootingPage() string {
	var b strings.Builder
	b.WriteString(generated + troubleshootingHead + questions + reasonsHead)
	for _, part := range []struct {
		who   explain.Who
		title string
	}{
		{explain.People, "People on GitHub can end it"},
		{explain.Operator, "The operator or a repository admin can end it"},
		{explain.Nobody, "It ends by itself; if it lasts, the operator can look why"},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| code | says | next | comment |\n|---|---|---|---|\n", part.title)
		for _, r := range explain.Entries() {
			if r.Who == part.who {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Kind, cell(r.What), cell(r.Next), strings.TrimPrefix(string(r.After), "after "))
			}
		}
	}
	b.WriteString(gatesHead)
	for _, r := range merging.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Code, cell(r.Opens), cell(r.Who))
	}
	b.WriteString(checksHead)
	for _, c := range doctor.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Code, c.Group, cell(c.Looks))
	}
	return b.String()
}

const troubleshootingHead = `# Troubleshooting

- ` + "`gh mergexo doctor`" + ` checks the machine, the agents and the repositories, and says how to repair what it finds.
- ` + "`gh mergexo status`" + ` lists what waits, and for what; ` + "`gh mergexo show owner/name#12`" + ` shows one issue or pull request, ` + "`gh mergexo logs`" + ` the log.
- [Errors](reference/errors.md) lists exit codes and the codes of errors.
`

const reasonsHead = `
## Reasons

` + "`status`, `show`, dry runs, `--json`" + ` and comments on GitHub give the same reason in the same words. The code stays as it is
from release to release; the words may change.

Words in capitals, numbers and dates are examples: TEXT is what an agent, a program, git or GitHub said, ADVICE is what the failed program itself says to do. "next" is
the next step as a comment on a pull request words it. "comment" says when such a comment is written, once: at once, or after the time of that key. Until then, ` + "`status` and `show`" + ` have the reason.
`

const gatesHead = `
## Gates of a merge

With [` + "`auto_merge`" + `](merging.md), a pull request is merged once all gates are open. ` + "`gh mergexo show`" + ` lists them in this order.

| code | open when | who opens it |
|---|---|---|
`

const checksHead = `
## Checks of doctor

| code | group | what it checks |
|---|---|---|
`

const questions = `
## Questions

| | |
|---|---|
| I set a label and nothing happens. | Was a pass made since (` + "`gh mergexo status`" + `)? Is it the label of the config? Do you have triage permission or more? Is there ` + "`agent:ignore`" + `, or a pause? ` +
	"`gh mergexo tick --dry-run`" + ` says what it would do with each issue. |
| A comment is not answered. | ` + "`gh mergexo show`" + ` says whether it was ignored (a bot, no write permission, not in ` + "`allowed_users`" + `, made during a pause), waits (quiet period, no slot), or was answered elsewhere. |
| It works by hand, but not from cron. | Another ` + "`PATH`, another `HOME`" + `, no login, or no cron daemon: ` + "`gh mergexo doctor`" + ` says which; [schedule](operating.md#scheduling-passes). |
| A pass prints nothing. | There was nothing to do, or another pass is planning: ` + "`gh mergexo status`" + `. |
| I deleted the state folder. | Nothing is answered twice: the next pass finds its traces on GitHub. Budgets and history start over. |
| Something landed that I did not want. | ` + "`gh mergexo pause --all`" + `, then revert as always. [Merging](merging.md#what-landed) says what is compared. |
| What does a pull request cost, and how long does it take? | See [the tutorial](tutorial.md#what-it-costs); yours: ` + "`gh mergexo report cost --by item`" + `. |
| How long until a comment is answered? | One interval of the schedule, a minute without another comment, and the agent's run. |
| Where does it run? | On Linux with bubblewrap all of it is tested. For macOS (` + "`sandbox-exec`" + `, launchd) it is built, and only the files that it writes are tested. On Windows it runs in WSL, which is a Linux of its own. Enterprise Server is tested by simulation only. |
| My token expired. | Passes stop with exit code 4, and nothing is lost. ` + "`gh auth login`" + `, then ` + "`gh mergexo tick --now`" + `. |
| How do I stop one repository? | Take its ` + "`[[repo]]`" + ` out of the config. Its pull requests stay open on GitHub and nobody works on them; ` + "`status`" + ` names them. To go back, write it in again. |
| Who deletes the branches? | GitHub, if the repository's setting "Automatically delete head branches" is on. |
| Which scheduler do I choose? | None: ` + "`schedule install`" + ` takes the system's. A server without systemd has cron. |
| How much memory do N workers need? | N × ` + "`max_memory`" + ` (8 GiB) at most: lower it to what your agent and tests use, and keep 2 GiB for the passes. |
| What do I write into AGENTS.md? | How to build and test, what must not be touched, and what a reviewer would ask for. Short: each run reads it. |
| Do its pushes cost Actions minutes? | Yes, as any push to a pull request. ` + "`required_tests`" + ` finds mistakes before the push. |
| What becomes of unfinished work in a checkout? | The next attempt continues from it; it is kept in the mirror until 30 days after the item closed. |
| What can it not do? | [Guarantees](guarantees.md) ends each promise with its limits, [security](security.md) too. |
`
