package work

import (
	"slices"
	"strings"
)

// Verb is what a command asks for.
type Verb string

// The verbs, as in comments and on the command line.
const (
	VerbHelp     Verb = "help"
	VerbStatus   Verb = "status"
	VerbRetry    Verb = "retry"
	VerbUnblock  Verb = "unblock"
	VerbPause    Verb = "pause"
	VerbResume   Verb = "resume"
	VerbCancel   Verb = "cancel"
	VerbDesign   Verb = "design"
	VerbBugfix   Verb = "bugfix"
	VerbSmallJob Verb = "small-job"
	VerbApprove  Verb = "approve"
	VerbHold     Verb = "hold"
	VerbMerge    Verb = "merge"
)

// CommandSpec is one command. Comments, the command line, both helps and the docs are made from the
// rows; tick/plan has a function for each verb.
type CommandSpec struct {
	Verb      Verb
	Does      string
	Flow      Flow // that it starts; empty: none
	TakesHead bool // --head SHA: only if the branch is at this commit
	NeedsItem bool // refused if no work has started
	OnMerged  bool // also answered on the merged pull request of a design; other commands are referred to its issue

	// On the command line:
	OtherForm bool     // it has its own command there
	Also      []string // other words that people try
}

// CommandTable returns all commands in the order of the help.
func CommandTable() []CommandSpec {
	return []CommandSpec{
		{Verb: VerbHelp, Does: "Show this table", OnMerged: true, OtherForm: true},
		{Verb: VerbStatus, Does: "Show the state of the work, what it waits for and what comes next", NeedsItem: true, OnMerged: true, OtherForm: true},
		{
			Verb: VerbRetry, Does: "Retry at once what failed, is blocked or waits; restart reviews that are stopped or on hold",
			NeedsItem: true, OnMerged: true, Also: []string{"rerun", "restart"},
		},
		{Verb: VerbUnblock, Does: "Resume blocked work on the branch as it is now", TakesHead: true, NeedsItem: true},
		{Verb: VerbPause, Does: "Pause the work; comments made during the pause are never acted on", Also: []string{"stop", "halt", "suspend"}},
		{Verb: VerbResume, Does: "End a pause or a hold", Also: []string{"unhold", "unpause", "continue", "release"}},
		{Verb: VerbApprove, Does: "Approve the pull request as one of its reviewers, like an approving review", TakesHead: true, NeedsItem: true},
		{Verb: VerbHold, Does: "Stop reviews and merge of the pull request until it is resumed; comments are still answered", NeedsItem: true},
		{Verb: VerbMerge, Does: "Approve this commit for merging, when a person's approval is required", TakesHead: true, NeedsItem: true},
		{Verb: VerbCancel, Does: "Cancel the work and close its pull request; the branch stays", NeedsItem: true, Also: []string{"abort", "close", "kill"}},
		{Verb: VerbDesign, Does: "Start with a design document for the issue", Flow: FlowDesign},
		{Verb: VerbBugfix, Does: "Start to fix the bug that the issue describes", Flow: FlowBugfix},
		{Verb: VerbSmallJob, Does: "Start to do the issue as a small job", Flow: FlowSmallJob},
	}
}

// FindCommand returns the row of a verb.
func FindCommand(verb Verb) (CommandSpec, bool) {
	all := CommandTable()
	if i := slices.IndexFunc(all, func(r CommandSpec) bool { return r.Verb == verb }); i >= 0 {
		return all[i], true
	}
	return CommandSpec{}, false
}

// Flow returns the flow that a verb starts; false: it starts none.
func (v Verb) Flow() (Flow, bool) {
	row, _ := FindCommand(v)
	return row.Flow, row.Flow != ""
}

// CommandOf returns the command that starts a flow.
func CommandOf(flow Flow) Verb {
	for _, row := range CommandTable() {
		if row.Flow == flow {
			return row.Verb
		}
	}
	return VerbDesign // an implementation starts with its design
}

// CommandHelp returns the help in Markdown, for comments and docs.
func CommandHelp() string {
	var b strings.Builder
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, row := range CommandTable() {
		head := ""
		if row.TakesHead {
			head = " [--head SHA]"
		}
		b.WriteString("| `/mergexo " + string(row.Verb) + head + "` | " + row.Does + " |\n")
	}
	return b.String()
}
