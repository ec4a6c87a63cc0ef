//go:build unix

package crashtest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// ended is how a run ended, without ids, times and what else differs from run
// to run though nothing is different.
type ended struct {
	hub     string              // all that is visible on GitHub
	commits string              // every branch's commits, with their changes
	work    map[string][]string // by the branch of a pull request, who made which commits there
	ledger  string              // what the database says of items and events
	moved   bool                // people did something during the turn
	merges  bool                // what ended was merged by us: the mirror leads to it without the database
	runs    map[string]int      // of the agent, by what they were for
	removed int                 // comments of which there was a second copy for a while
}

var (
	hexes        = regexp.MustCompile(`\b[0-9a-f]{40,64}\b|\bMergexo-Turn: [0-9a-f]{16}\b`)
	trees        = regexp.MustCompile(`\btree [0-9a-f?]+`)
	wordings     = regexp.MustCompile(` \(said in run \d+\)`)
	stamps       = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*`)
	indexes      = regexp.MustCompile(`(?m)^index .*\n`)
	branchLines  = regexp.MustCompile(`(?m)^branch .*\n`)
	branchNames  = regexp.MustCompile(`(agent/[a-z]+/\d+-[a-z-]*[a-z])-\d+\b`)
	copyLines    = regexp.MustCompile(`(?m)^event .*ignored: our own\n`)
	handledLines = regexp.MustCompile(`(?m)^ +\| <!-- mergexo-handled:.*\n|^Mergexo-Handled: .*\n`)
	endedItems   = regexp.MustCompile(`(?m)^item (?:\d+|<\w+>) (?:\w+ completed .*|design merged .*|\w+ closed  |\w+ closed .* cancelled it)\n`)
	questions    = regexp.MustCompile(`(?m)^  comment by operator\n    \| (?:gh mergexo stopped here:|\*\*Question:\*\*) .*\n(    \|.*\n)*`)
	stopMarks    = regexp.MustCompile(`(?m)^ +\| <!-- mergexo-(?:stop|by):.*\n`)      // one has a time, the other the world's folder
	reviewMarks  = regexp.MustCompile(`<!-- mergexo-(?:review|finding):([\w-]+) -->`) // they name commits, and what is made of them
	ofCommits    = regexp.MustCompile(`"(?:head|merge_base|id)":"[^"]*",?|"resolved":\[[^]]*\],?`)
	dueHashes    = regexp.MustCompile(`(:review_due:\S+\.)…:[0-9a-f]{16}|(:fix_due:)\d+(\.\d+\.\d+):[0-9a-f]{16}`)
	groupHashes  = regexp.MustCompile(`(:check:…):[0-9a-f]{16}`) // they name the commit that a merge queue made
	shortNames   = regexp.MustCompile(`(This review is about |moved on to )[0-9a-f]{7}\b`)
	commandSaid  = regexp.MustCompile("(?m)^(    \\| \\*\\*`/mergexo .*`\\*\\* for \\w+:).*\n")
	minutes      = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d UTC\b`)
	// overtaken is what a comment about a stop says once the work has resumed: people
	// who answered before it was made never get it.
	overtaken = regexp.MustCompile(`(?m)^  comment by operator\n    \| \*\*(?:Resumed|Merged|Closed|Cancelled|Stopped for another reason)\*\* .*\n(    \|.*\n)*`)
	// finished is the label that an issue gets with the merge that closes it:
	// without the database nothing asks after that issue any more, unless we merged.
	finished  = regexp.MustCompile(`(?m)^  labels agent:done\n|, agent:done$`)
	itemLines = regexp.MustCompile(`(?m)^item .*\n`)
	// courtesies are eyes, the announcement on the issue, and that a thread is
	// resolved: cosmetic, and given up rather than done twice.
	courtesies = regexp.MustCompile(`(?m)^ +reactions operator:eyes\n|^  comment by operator\n    \| Opened #.*\n(    \|.*\n)*|^  thread on \S+( resolved)$`)
)

// look reads the end state.
func (w *world) look() (e ended, err error) {
	hub := dueHashes.ReplaceAllString(readable(stopMarks.ReplaceAllString(w.hub.Dump(hexes), "")), "$1$2$3")
	hub = shortNames.ReplaceAllString(hub, "$1…")
	e.hub = w.byTitle(w.named(w.byTitle(minutes.ReplaceAllString(wordings.ReplaceAllString(trees.ReplaceAllString(hub, "tree …"), ""), "…"))))
	e.merges = w.scenario.merges
	e.moved = w.scenario.during != nil || w.scenario.meanwhile != nil
	if e.commits, err = w.history(); err != nil {
		return e, err
	}
	e.commits = w.byTitle(e.commits)
	if e.work, err = w.work(); err != nil {
		return e, err
	}
	l, err := w.ledger()
	if err != nil {
		return e, err
	}
	e.ledger = l.text
	if w.scenario.between != nil {
		e.hub, e.commits = groupHashes.ReplaceAllString(e.hub, "$1"), groupHashes.ReplaceAllString(e.commits, "$1")
	}
	if w.scenario.reviews != nil || w.scenario.plans { // whether a pass sees a review of ours, or makes it, depends on when one died
		e.ledger = copyLines.ReplaceAllString(e.ledger, "")
	}
	if err := w.partsShown(); err != nil {
		return e, err
	}
	e.runs = map[string]int{}
	w.rig.mu.Lock()
	defer w.rig.mu.Unlock()
	e.removed = w.rig.removed
	for _, r := range w.rig.runs {
		e.runs[w.byTitle(r.String())]++
	}
	return e, nil
}

// readable shows what the markers of reviews say, but for what names a commit.
func readable(text string) string {
	return reviewMarks.ReplaceAllStringFunc(text, func(m string) string {
		b, err := base64.RawURLEncoding.DecodeString(reviewMarks.FindStringSubmatch(m)[1])
		if err != nil {
			return m
		}
		return ofCommits.ReplaceAllString(string(b), "")
	})
}

// named calls pull requests by their branches: of two that are opened side by
// side either may come first. Blocks are sorted for the same reason.
func (w *world) named(text string) string {
	for _, p := range w.repo.Pulls() {
		for _, word := range []string{"pull ", "#"} {
			re := regexp.MustCompile(fmt.Sprintf(`%s%d\b`, word, p.Number))
			text = re.ReplaceAllString(text, word+"<"+p.Head+">")
		}
	}
	var blocks []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") && len(blocks) > 0 {
			blocks[len(blocks)-1] += line
			continue
		}
		blocks = append(blocks, line)
	}
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}

// history is every branch's commits with what they change.
func (w *world) history() (string, error) {
	var b strings.Builder
	for _, branch := range slices.Sorted(maps.Keys(w.repo.Branches())) {
		c := exec.Command(w.programs.git, "-C", w.repo.GitDir(), "log", "--topo-order", "-p", "--no-color", "--format=commit by %an: %B", branch)
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("read the commits of %s: %w", branch, err)
		}
		text := indexes.ReplaceAllString(string(out), "")
		text = stamps.ReplaceAllString(hexes.ReplaceAllString(text, "…"), "…")
		fmt.Fprintf(&b, "branch %s\n%s", branch, text)
	}
	return b.String(), nil
}

// work is who made which commits on the branches of pull requests.
func (w *world) work() (map[string][]string, error) {
	all := map[string][]string{}
	for _, p := range w.repo.Pulls() {
		out, err := exec.Command(w.programs.git, "-C", w.repo.GitDir(), "log", "--format=%an: %s", p.HeadOID).Output()
		if err != nil {
			return nil, fmt.Errorf("read the commits of %s: %w", p.Head, err)
		}
		all[promised(p.Head)] = strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	return all, nil
}

// compare says in which way an end state differs from the one of a run that
// nothing happened to, after something happened to this one. lost are the runs
// whose answer could not be stored. What differs rightly is in docs/guarantees.md.
func (e ended) compare(want ended, p point, lost map[string]int) error {
	errs := []error{e.compareRuns(want, lost)}
	if e.removed > want.removed && !p.hides() {
		errs = append(errs, fmt.Errorf("a comment was made twice, and one of the two removed again: %d, not %d", e.removed, want.removed))
	}
	if p.gone != "" {
		e, want = e.unattributed(), want.unattributed()
		if len(lost) > 0 { // a question that was answered before it was asked is not asked any more
			e.hub, want.hub = questions.ReplaceAllString(e.hub, ""), questions.ReplaceAllString(want.hub, "")
		}
	}
	found := p.gone == database && want.merges
	if p.gone != "" && !found {
		e.hub, want.hub = finished.ReplaceAllString(e.hub, ""), finished.ReplaceAllString(want.hub, "")
	}
	if p.gone != "" {
		e.hub, want.hub = commandSaid.ReplaceAllString(e.hub, "$1\n"), commandSaid.ReplaceAllString(want.hub, "$1\n") // it finds what is left to do
	}
	if n, most := len(overtaken.FindAllString(e.hub, -1)), len(overtaken.FindAllString(want.hub, -1)); n > most {
		errs = append(errs, fmt.Errorf("%d comments say that it went on, not %d", n, most))
	} else if most > 0 { // how often one was edited, and seen by us, depends on when we died
		e.hub, want.hub = overtaken.ReplaceAllString(e.hub, ""), overtaken.ReplaceAllString(want.hub, "")
		e.ledger, want.ledger = copyLines.ReplaceAllString(e.ledger, ""), copyLines.ReplaceAllString(want.ledger, "")
	}
	if p.gone == wholeState {
		e.hub, want.hub = aboutFlaky.ReplaceAllString(e.hub, ""), aboutFlaky.ReplaceAllString(want.hub, "")
	}
	switch {
	case p.gone != "" && len(lost) > 0 && want.moved:
		// The agent works again, on what people say by then.
		errs = append(errs, e.compareWork(want))
		e.hub, want.hub = promised(e.hub), promised(want.hub)
		e.ledger, want.ledger = promised(e.ledger), promised(want.ledger)
	case e.commits != want.commits:
		errs = append(errs, fmt.Errorf("the commits differ:\n%s", diff(want.commits, e.commits)))
	}
	hub, had := courteous(e.hub)
	wanted, owed := courteous(want.hub)
	if hub != wanted {
		errs = append(errs, fmt.Errorf("what is on GitHub differs:\n%s", diff(want.hub, e.hub)))
	}
	if may := p.forgives(); had > owed || had+may < owed {
		errs = append(errs, fmt.Errorf("there are %d courtesies, not %d:\n%s", had, owed, diff(want.hub, e.hub)))
	}
	switch {
	case p.gone != "", p.less > 0: // how an event came to its end is not on GitHub, nor how a merge compared with what was approved
		e.ledger, want.ledger = itemsOf(e.ledger), itemsOf(want.ledger)
	case p.forgives() > 0: // of what we wrote, one may be missing, or a copy that was removed again was seen
		e.ledger, want.ledger = copyLines.ReplaceAllString(e.ledger, ""), copyLines.ReplaceAllString(want.ledger, "")
	}
	if e.ledger != want.ledger {
		errs = append(errs, fmt.Errorf("the database differs:\n%s", diff(want.ledger, e.ledger)))
	}
	return errors.Join(errs...)
}

// forgives is how many courtesies may be missing. One is not tried again when
// GitHub refused it or was not to be reached; what an event is owed beyond its
// answer is forgotten with the database.
func (p point) forgives() int {
	switch {
	case p.gone != "":
		return math.MaxInt32
	case p.act == actKill && !p.lag, p.act == actCrowd, p.act == actMeet:
		return 0
	}
	return 1
}

// courteous takes the courtesies out of GitHub's state and counts them.
func courteous(hub string) (rest string, n int) {
	rest = courtesies.ReplaceAllStringFunc(hub, func(s string) string {
		n++
		if thread, ok := strings.CutSuffix(s, " resolved"); ok {
			return thread
		}
		return ""
	})
	return rest, n
}

// itemsOf are the items that something may still become of. What becomes of a
// merged design is its implementation, which is an item of its own.
func itemsOf(ledger string) string {
	return endedItems.ReplaceAllString(strings.Join(itemLines.FindAllString(ledger, -1), ""), "")
}

// compareRuns compares how often the agent was paid: once, and once more for
// each answer that died with its pass before it was stored.
func (e ended) compareRuns(want ended, lost map[string]int) error {
	var errs []error
	for what := range maps.Keys(merged(e.runs, want.runs)) {
		if n, most := e.runs[what], want.runs[what]+lost[what]; n < want.runs[what] || n > most {
			errs = append(errs, fmt.Errorf("the agent ran %d times for %s, not %d, and %d answers were lost", n, what, want.runs[what], lost[what]))
		}
	}
	return errors.Join(errs...)
}

// paidTwice is how many runs of the agent there were beyond those that were wanted.
func (e ended) paidTwice(want ended) (n int) {
	for what, runs := range e.runs {
		n += max(0, runs-want.runs[what])
	}
	return n
}

func merged(a, b map[string]int) map[string]int {
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}

// tool is the author of the agent's commits.
const tool = "gh mergexo: "

// compareWork is what holds of the branches of pull requests when an answer went with the state and
// people did something in between: nobody's commit is missing, a person's is there once, and one
// that is there more often is the agent's, who worked again.
func (e ended) compareWork(want ended) error {
	var errs []error
	for branch, wanted := range want.work {
		left := map[string]int{}
		for _, c := range wanted {
			left[c]++
		}
		got, ok := e.work[branch]
		for _, c := range got {
			if left[c]--; left[c] < 0 && !strings.HasPrefix(c, tool) {
				errs = append(errs, fmt.Errorf("%s has a commit too many: %s", branch, c))
			}
		}
		for c, n := range left {
			if n > 0 || !slices.Contains(wanted, c) {
				ok = false
			}
		}
		if !ok {
			errs = append(errs, fmt.Errorf("%s has the commits\n%s, not\n%s", branch, strings.Join(got, "\n"), strings.Join(wanted, "\n")))
		}
	}
	return errors.Join(errs...)
}

// unattributed is what is left when it does not count which events an answer
// was for: a turn that is made again may be given other ones.
func (e ended) unattributed() ended {
	e.hub, e.commits = handledLines.ReplaceAllString(e.hub, ""), handledLines.ReplaceAllString(e.commits, "")
	return e
}

// aboutFlaky is said once failed jobs run again. From then on nothing asks for
// it any more: lost with the state folder, it stays unsaid.
var aboutFlaky = regexp.MustCompile(`(?m)^  comment by operator\n    \| A test looks flaky.*\n(    \|.*\n)*`)

// promised is what is left when what branches are called does not count.
func promised(text string) string {
	return branchNames.ReplaceAllString(branchLines.ReplaceAllString(text, ""), "$1")
}

// diff shows the lines that only one of two texts has.
func diff(want, got string) string {
	count := map[string]int{}
	for line := range strings.Lines(want) {
		count[line]++
	}
	var b strings.Builder
	for line := range strings.Lines(got) {
		if count[line]--; count[line] < 0 {
			b.WriteString("+" + line)
		}
	}
	for line := range strings.Lines(want) {
		if count[line] > 0 {
			count[line]--
			b.WriteString("-" + line)
		}
	}
	if b.Len() == 0 {
		return "the order of lines:\n" + got
	}
	return b.String()
}
