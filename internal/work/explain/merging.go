package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// merging are the reasons why a pull request is not merged.
var merging = table{
	work.WhyMergeNeverChecked: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("%s never reported on the head, for %s now", checks(r.Names), time.Duration(r.At)*time.Millisecond),
			Fix:  "have it run, or take it out of the rules of the branch and out of required_checks", Resume: p.give(command.VerbRetry) + ", or wait: it is merged once that is green",
		}
	},
	work.WhyMergeChecksHidden: func(r work.Reason, p Place) Words {
		if len(r.Names) == 0 {
			return Words{
				What: "the checks cannot be seen with this token, and GitHub does not say that it would merge",
				Fix:  "give gh a token that may read checks", Resume: "it is merged once GitHub says that nothing holds it, and " + p.give(command.VerbRetry) + " looks at once",
			}
		}
		return Words{
			What: fmt.Sprintf("%s of required_checks cannot be seen with this token", checks(r.Names)),
			Fix:  "give gh a token that may read checks, or take required_checks out of the config", Resume: p.give(command.VerbRetry),
		}
	},
	work.WhyMergeMethod: func(r work.Reason, p Place) Words {
		what := "the repository and its rules allow no way to merge"
		if r.Name != "" {
			what = fmt.Sprintf("merge_method is %q, which the repository or its rules do not allow", r.Name)
		}
		fix := "allow one in the settings of the repository"
		if len(r.Names) > 0 {
			fix = "write one that is allowed into the config: " + strings.Join(r.Names, ", ")
		}
		return Words{What: what, Fix: fix, Resume: p.give(command.VerbRetry)}
	},
	work.WhyMergePermission: func(r work.Reason, p Place) Words {
		what := "the account may not merge here"
		if r.Name != "" {
			what = fmt.Sprintf("the account has %s permission and may not merge", r.Name)
		}
		if r.Text != "" {
			what += ": " + r.Text
		}
		return Words{What: what, Fix: "give it write permission (a fine-grained token: Contents, write), or merge it yourself", Resume: p.give(command.VerbRetry)}
	},
	work.WhyMergeHalf: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("it is half merged: %s is on `%s`, and GitHub shows the pull request as open", work.Short(r.Commit), r.Branch),
			Fix: "look at both, and close the pull request; to take the change back revert the commit as well, which leaves it in the branch's history: " +
				"this head is never merged a second time",
			Resume: p.give(command.VerbRetry) + " once the commit is gone from the history",
		}
	},
	work.WhyMergeRefused: func(r work.Reason, p Place) Words {
		return Words{What: "GitHub refuses to merge it: " + r.Text, Fix: "see to that, or merge it yourself", Resume: p.give(command.VerbRetry)}
	},
	work.WhyMergeOtherBase: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("it would bring commits along that nobody approved: since its approval it was aimed at another base, or `%s` was rewritten", r.Branch),
			Fix:  "look at what it changes there now", Resume: p.give(command.VerbRetry) + " to have it merged there, or push a commit to have it reviewed again",
		}
	},
	work.WhyMergeQueueOut: func(r work.Reason, p Place) Words {
		what := "it fell out of the merge queue, and the same head is queued once"
		if len(r.Names) > 0 {
			what += "; red there: " + strings.Join(r.Names, ", ")
		}
		if r.Text != "" {
			what += ": " + r.Text
		}
		return Words{What: what, Fix: "push a commit, or queue it yourself", Resume: p.give(command.VerbRetry) + " to have it queued again"}
	},
	work.WhyMergeDiffers: func(r work.Reason, p Place) Words {
		if r.Commit == "" { // whoever says so does not say of which
			return Words{What: r.Text, Fix: "look at what was merged last, and find out what GitHub or a queue did", Resume: "run " + p.resumeMerging()}
		}
		return Words{
			What: fmt.Sprintf("what landed as %s is not what was approved as %s: %s", work.Short(r.Commit), work.Short(r.Head), r.Text),
			Fix:  "look at both commits, and find out what GitHub or a queue did", Resume: "run " + p.resumeMerging(),
		}
	},

	work.WhyMergeDraft: func(work.Reason, Place) Words {
		return Words{What: "it is a draft", Resume: "mark it as ready for review"}
	},
	work.WhyMergeConflicts: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("it conflicts with `%s`", r.Branch), Resume: "a turn merges the base into it"}
	},
	work.WhyMergeUnknown: func(work.Reason, Place) Words {
		return Words{What: "GitHub is finding out whether it can be merged", Resume: "the next pass looks again"}
	},
	work.WhyMergeBehind: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("it is behind `%s`, and has to be up to date with it", r.Branch), Resume: "its branch is brought up to date when it is the next one to be merged"}
	},
	work.WhyMergeChecksRed: func(r work.Reason, p Place) Words {
		if r.At > 0 {
			return Words{
				What: fmt.Sprintf("%s failed or was cancelled, and for %s nobody has had it run again", checks(r.Names), time.Duration(r.At)*time.Millisecond),
				Fix:  "have it run again, or push what mends it", Resume: p.give(command.VerbRetry) + ", or wait: it is merged once that is green",
			}
		}
		return Words{What: checks(r.Names) + " failed", Resume: "it is merged once they are green"}
	},
	work.WhyMergeChecksMissing: func(r work.Reason, _ Place) Words {
		return Words{What: checks(r.Names) + " did not report yet", Resume: "it is merged once they are green"}
	},
	work.WhyMergeChecksRun: func(r work.Reason, _ Place) Words {
		return Words{What: checks(r.Names) + plural(len(r.Names), " has", " have") + " not finished yet", Resume: "it is merged once they are green"}
	},
	work.WhyMergeReviews: func(r work.Reason, _ Place) Words {
		what := "its reviewers have not all approved this head"
		if len(r.Names) > 0 {
			what = "not approved at this head by " + strings.Join(r.Names, ", ")
		}
		return Words{What: what, Resume: "they review it"}
	},
	work.WhyMergeReviewRequired: func(r work.Reason, _ Place) Words {
		what := "the rules of the branch ask for an approving review on GitHub"
		if r.Count > 1 {
			what = fmt.Sprintf("the rules of the branch ask for %d approving reviews on GitHub", r.Count)
		}
		return Words{What: what, Resume: "somebody with write permission who is not its author approves it on GitHub; a reviewer with an account of its own can"}
	},
	work.WhyMergeChangesAsked: func(r work.Reason, _ Place) Words {
		who, next := "a review", "whoever gave it"
		if len(r.Names) > 0 {
			who = strings.Join(r.Names, ", ")
			next = who
		}
		return Words{What: who + " requested changes on GitHub", Resume: next + " approves, or the review is dismissed there"}
	},
	work.WhyMergeThreads: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("the rules of the branch ask for resolved conversations, and %d %s open", r.Count, plural(r.Count, "is", "are")), Resume: "resolve them on the pull request"}
	},
	work.WhyMergeComments: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("%s of people to be answered", work.Count(r.Count, "comment")), Resume: "a turn answers them"}
	},
	work.WhyMergeHeld: func(r work.Reason, p Place) Words {
		what := "it is held"
		if r.Who != "" {
			what += " by " + r.Who
		}
		return Words{What: what, Resume: p.give(command.VerbResume) + ", or take the label away"}
	},
	work.WhyMergeFrozen: func(r work.Reason, p Place) Words {
		return Words{What: fmt.Sprintf("nothing is merged while issue %s#%d is open (label `%s`)", p.Repo, r.Number, r.Name), Resume: "close that issue, or take its label away"}
	},
	work.WhyMergePerson: func(r work.Reason, p Place) Words {
		what := "a person has to approve this head (require_human_approval)"
		switch {
		case r.Name == "critical_paths" && len(r.Names) == 1 && r.Names[0] == "?":
			what = "a person has to approve this head: what it changes is not known, and critical_paths is set"
		case r.Name == "critical_paths":
			what = "a person has to approve this head: it changes " + strings.Join(r.Names, ", ") + " (critical_paths)"
		case r.Name == "max_merge_lines":
			what = fmt.Sprintf("a person has to approve this head: it changes %d lines, more than %.0f (max_merge_lines)", r.Count, r.Limit)
		}
		return Words{What: what, Resume: "approve it on GitHub as somebody with write permission who is not its author, or " + p.give(command.VerbMerge)}
	},
	work.WhyMergeQueued: func(r work.Reason, _ Place) Words {
		what := "it is in the merge queue"
		if r.Count > 0 {
			what += fmt.Sprintf(" at position %d", r.Count)
		}
		if r.Name != "" {
			what += " (" + strings.ReplaceAll(r.Name, "_", " ") + ")"
		}
		return Words{What: what, Resume: "GitHub merges it when its turn comes, unless somebody takes it out of the queue there"}
	},
	work.WhyMergeLastPush: func(work.Reason, Place) Words {
		return Words{What: "the rules of the branch ask for an approval by somebody else than whoever pushed last", Resume: "somebody else approves it on GitHub"}
	},
	work.WhyMergeBlocked: func(r work.Reason, _ Place) Words {
		what := "GitHub says that a rule of the branch blocks it, and shows that rule to administrators only"
		if len(r.Names) > 0 {
			what = "GitHub says that a rule of the branch blocks it: " + strings.Join(r.Names, ", ")
		}
		return Words{What: what, Resume: "see the pull request on GitHub as an administrator"}
	},
	work.WhyMergeHalted: func(r work.Reason, p Place) Words {
		what := "merging is stopped in this repository"
		if r.Commit != "" {
			what += fmt.Sprintf(": what landed as %s is not what was approved", work.Short(r.Commit))
		}
		if r.Text != "" {
			what += ": " + r.Text
		}
		return Words{What: what, Resume: "look at what landed, then " + p.resumeMerging()}
	},
	work.WhyMergeTaken: func(work.Reason, Place) Words {
		return Words{What: "GitHub took the merge", Resume: "the next pass reads what became of it"}
	},
	work.WhyMergeUnclear: func(work.Reason, Place) Words {
		return Words{What: "the answer to its merge never came", Resume: "the pull request and its base are looked at before anything is sent again"}
	},
	work.WhyMergeBusy: func(work.Reason, Place) Words {
		return Words{What: "an agent or a person has something to do on it first", Resume: "it is merged after that, if it is approved again"}
	},
	work.WhyMergeNext: func(r work.Reason, p Place) Words {
		return Words{What: fmt.Sprintf("%s#%d is merged into `%s` first", p.Repo, r.Count, r.Branch), Resume: "it is judged again after that"}
	},
	work.WhyMergeUnread: func(work.Reason, Place) Words {
		return Words{What: "it changed on GitHub since it was read", Resume: "the next pass reads it"}
	},
	work.WhyMergeNotRead: func(work.Reason, Place) Words {
		return Words{What: "GitHub's merge box was not read yet", Resume: "the next pass reads it"}
	},
	work.WhyMergeDue: func(r work.Reason, _ Place) Words {
		if r.Name == string(work.ActionEnqueue) {
			return Words{What: fmt.Sprintf("a pass puts it into the merge queue of `%s`", r.Branch), Resume: "nothing holds it"}
		}
		return Words{What: "a pass merges it", Resume: "nothing holds it"}
	},
}

// resumeMerging is what whoever runs the program types to have a repository merged into
// again.
func (p Place) resumeMerging() string {
	return "`" + strings.TrimSpace("gh mergexo resume-merging "+p.Repo) + "`"
}

// plural is the one word for one thing, and the other one for any other number.
func plural(n int, one, other string) string {
	if n == 1 {
		return one
	}
	return other
}

// checks names checks.
func checks(names []string) string {
	switch len(names) {
	case 0:
		return "the checks"
	case 1:
		return "the check " + names[0]
	}
	return "the checks " + strings.Join(names, ", ")
}
