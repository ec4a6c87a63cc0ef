package explain

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// waits are the reasons that pass by themselves.
var waits = table{
	work.WhyGitHubLimit:  func(r work.Reason, _ Place) Words { return waiting(r.Text) },
	work.WhyUnclearWrite: func(r work.Reason, _ Place) Words { return waiting(r.Text) },
	work.WhyNoAnswer:     func(r work.Reason, _ Place) Words { return waiting(r.Text) },
	work.WhyNotRead: func(work.Reason, Place) Words {
		return waiting("a part of the conversation could not be read from GitHub")
	},
	work.WhyLoginUnknown: func(work.Reason, Place) Words {
		return waiting("GitHub does not know the login; run `gh auth status`")
	},
	work.WhyDraftReview: func(r work.Reason, _ Place) Words {
		return waiting(fmt.Sprintf("your draft review on #%d is open, and GitHub takes no replies until you submit or discard it", r.Number))
	},
	work.WhyPace: func(r work.Reason, _ Place) Words {
		return waiting(fmt.Sprintf("%d comments in the last %s; GitHub limits how many an account may write", r.Count, r.Text))
	},
	work.WhyDayBudget: func(r work.Reason, p Place) Words {
		return waiting(fmt.Sprintf("no turn begins before %s: %s", stamp(r), budget(r, p)))
	},
	work.WhyProvider: func(r work.Reason, _ Place) Words {
		what := fmt.Sprintf("agent %q: %s", r.Who, r.Text)
		if r.At != 0 {
			what += ", until " + work.UTC(at(r))
		}
		return waiting(what)
	},
	work.WhyNoConnection: func(r work.Reason, _ Place) Words {
		return Words{What: "no connection", Whole: "no connection: " + r.Local}
	},
	work.WhyDiskFull: func(work.Reason, Place) Words {
		return waiting("the disk of the machine that runs it takes nothing more; make room there")
	},
	work.WhyHeadNotShown: func(work.Reason, Place) Words { return waiting("GitHub does not show the newest head yet") },
	work.WhyChecksRun:    func(work.Reason, Place) Words { return waiting("checks are running") },
	work.WhyBranchMoves:  func(work.Reason, Place) Words { return waiting("the branch keeps moving") },
	work.WhyCommitLost:   func(r work.Reason, _ Place) Words { return waiting(r.Text) },
	work.WhyRepoGone: func(r work.Reason, _ Place) Words {
		return waiting(r.Name + " is not there any more, or this account cannot see it")
	},
	work.WhyRepoReplaced: func(r work.Reason, _ Place) Words { return waiting(r.Name + " is another repository by now") },
	work.WhyCommandFirst: func(work.Reason, Place) Words { return waiting("a command on the issue is carried out first") },
}
