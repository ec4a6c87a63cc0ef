package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// reviews are the reasons why the reviews of a pull request wait or are stopped.
var reviews = table{
	work.WhyReviewCycles: func(r work.Reason, p Place) Words {
		return takenOver(fmt.Sprintf("PR #%d exceeded max fix cycles (%d) — requires human review", r.Number, r.Count), p)
	},
	work.WhyReviewCircle: func(r work.Reason, p Place) Words {
		what := fmt.Sprintf("reviewer %q of PR #%d asks after a fix for the same as before it", r.Name, r.Number)
		if len(r.Names) > 0 {
			what += " (" + strings.Join(r.Names, ", ") + ")"
		}
		return takenOver(what, p)
	},
	work.WhyReviewNotFixed: func(r work.Reason, p Place) Words {
		return takenOver(fmt.Sprintf("the author's agent could not do what reviewer %q of PR #%d asks for", r.Name, r.Number), p)
	},
	work.WhyReviewTakenBack: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("the review of %q of PR #%d was dismissed, and nobody looks at the same commit twice", r.Name, r.Number),
			Fix:  "push a commit", Resume: p.give(command.VerbRetry),
		}
	},
	work.WhyReviewFailed: func(r work.Reason, p Place) Words {
		what := fmt.Sprintf("reviewer %q of PR #%d failed", r.Name, r.Number)
		if r.Text != "" {
			what += ": " + r.Text
		}
		return Words{What: what, Fix: r.Advice, Resume: p.give(command.VerbRetry)}
	},
	work.WhyReviewerAccount: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("reviewer %q cannot speak as %s: %s", r.Name, r.Who, r.Text),
			Fix:  r.Advice, Resume: p.give(command.VerbRetry),
		}
	},
	work.WhyReviewSandbox: func(r work.Reason, p Place) Words {
		return Words{
			What: "the pull request is not ours, and its code is read only in a sandbox that hides the machine's files: " + r.Text,
			Fix:  r.Advice, Resume: p.give(command.VerbRetry),
		}
	},

	work.WhyReviewDue: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("a pass: reviewer %q looks at it next", r.Name), Resume: "the review is posted on the pull request"}
	},
	work.WhyReviewFixDue: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("a pass: what reviewer %q asks for is fixed next", r.Name), Resume: "the same reviewer looks again"}
	},
	work.WhyReviewPerson: func(r work.Reason, _ Place) Words { // whoever reads it may be somebody else
		who := "a person with write permission"
		if r.Who != "" {
			who = r.Who
		}
		return Words{What: "a review by " + who, Resume: who + " reviews the pull request on GitHub, or comments `/mergexo approve` there"}
	},
	work.WhyReviewAuthor: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("its author: reviewer %q requests changes", r.Name), Resume: "a push is reviewed again; one by somebody who may not write here once the label is set again"}
	},
	work.WhyReviewDraft: func(work.Reason, Place) Words {
		return Words{What: "its author: the pull request is a draft", Resume: "mark it as ready for review"}
	},
	work.WhyReviewChecks: func(work.Reason, Place) Words {
		return Words{What: "its checks, before anybody reviews it", Resume: "a reviewer looks at it once they are green"}
	},
	work.WhyReviewComments: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("%s to be answered, before anybody reviews it", work.Count(r.Count, "comment")), Resume: "a turn answers them, then a reviewer looks at it"}
	},
	work.WhyReviewHeld: func(r work.Reason, p Place) Words {
		what := "its reviews are held"
		if r.Who != "" {
			what += " by " + r.Who
		}
		return Words{What: what, Resume: p.give(command.VerbResume) + ", or take the label away"}
	},
	work.WhyReviewRelabel: func(r work.Reason, _ Place) Words {
		who := cmp.Or(r.Who, "somebody")
		return Words{
			What:   fmt.Sprintf("the label: %s may have pushed since it was set, and may not write here", who),
			Resume: "read the new commits, then take the label away and add it again",
		}
	},
	work.WhyReviewApproved: func(r work.Reason, p Place) Words {
		return Words{What: fmt.Sprintf("people on %s#%d: every reviewer has approved it", p.Repo, r.Number), Resume: "merge it"}
	},
	work.WhyReviewPushed: func(r work.Reason, _ Place) Words {
		return Words{What: "its reviewers: " + work.Short(r.Commit) + " was pushed since they approved it", Resume: "the next pass has it reviewed"}
	},
	work.WhyStatusUnset: func(r work.Reason, _ Place) Words {
		return Words{What: "the commit status mergexo/review cannot be set: " + r.Text, Resume: "give the account permission to set commit statuses"}
	},
}

// takenOver is for what the agents have given up. What a reviewer says then has them
// begin again, too: no approval stands for that of another.
func takenOver(what string, p Place) Words {
	return Words{What: what, Resume: p.give(command.VerbRetry) + " to have the agents begin again, as a verdict of one of its reviewers does; or merge or close it"}
}
