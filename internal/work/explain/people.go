package explain

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// people are the reasons that only a person's word or decision ends.
var people = table{
	work.WhyQuestion: func(r work.Reason, p Place) Words { return asked("the agent asks: "+r.Text, "answer", p) },
	work.WhyTestsFail: func(r work.Reason, p Place) Words {
		w := again(fmt.Sprintf("%s, also after %s", r.Text, work.Count(r.Count, "repair")), p)
		if r.Advice != "" {
			w.Resume += ". " + r.Advice
		}
		return w
	},
	work.WhyNothingChanged: func(_ work.Reason, p Place) Words { return again("the agent finished without changing a file", p) },
	work.WhyChangeRefused: func(r work.Reason, p Place) Words {
		w := again("what the agent made is refused: "+r.Text, p)
		switch {
		case r.Advice == "":
		case !p.Pull && !p.Comments:
			w.Fix = r.Advice
		default:
			w.Resume = r.Advice
		}
		return w
	},
	work.WhyNewComments: func(work.Reason, Place) Words {
		return Words{What: "people commented on the issue while the agent worked, so nothing was opened yet", Resume: "one more turn sees them"}
	},
	work.WhyIssueEdited: func(r work.Reason, p Place) Words { return confirmed(r.Text, p) },
	work.WhyNoProgress: func(r work.Reason, p Place) Words {
		what := fmt.Sprintf("no progress: %d turns in a row have tried to fix its checks or conflicts, without success", r.Count)
		if len(r.Names) > 0 {
			what = fmt.Sprintf("no progress: %d turns in a row were to fix the same red checks, and they are red again: %s", r.Count, strings.Join(r.Names, ", "))
		}
		return told(what)
	},
	work.WhyNotFixed: func(r work.Reason, _ Place) Words {
		if len(r.Names) == 0 {
			return told(fmt.Sprintf("no progress: nothing was changed, and it conflicts with %s as before", r.Branch))
		}
		return told("no progress: nothing was changed, and these checks are as red as before: " + strings.Join(r.Names, ", "))
	},
	work.WhyFlakyTest: func(r work.Reason, _ Place) Words {
		return told(fmt.Sprintf("the test %s looks flaky, and its checks cannot be run again from here", r.Name))
	},
	work.WhyStillRed: func(r work.Reason, _ Place) Words {
		return Words{
			What:   fmt.Sprintf("the checks of %s are red again, although their failed jobs were run again for a test that looked flaky", work.Short(r.Commit)),
			Resume: "fix the test, or say in a comment on the pull request what to do", Retry: true,
		}
	},
	work.WhyDependsMissing: func(r work.Reason, p Place) Words {
		return allTheSame("it depends on "+r.Name+", which does not exist or is not visible to this account", "comment on the issue to have it started all the same", p)
	},
	work.WhyDependsHidden: func(r work.Reason, p Place) Words {
		return allTheSame("it depends on "+r.Name+", which GitHub does not show to this account", "give the account access to it and comment here, or comment to have it started all the same", p)
	},
	work.WhyDependsCircle: func(r work.Reason, p Place) Words {
		return allTheSame("its dependencies run in a circle: "+strings.Join(r.Names, " → "), "close one of them, or comment on this issue to have it started all the same", p)
	},
}

// told is for what an agent was told once and cannot do.
func told(what string) Words {
	return Words{What: what, Resume: "say in a comment on the pull request what is to be done", Retry: true}
}

// allTheSame is for an implementation that a comment starts whatever it depends on.
func allTheSame(what, resume string, p Place) Words {
	if !p.Comments {
		return Words{What: what, Resume: startOver(p)}
	}
	return Words{What: what, Resume: resume, Retry: true}
}
