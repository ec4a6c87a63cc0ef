package explain

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// branches are the reasons that lie in branches, pull requests and pushes.
var branches = table{
	work.WhyRewritten: func(r work.Reason, p Place) Words {
		return Words{
			What: fmt.Sprintf("the branch %s was rewritten: %s is not in its history any more", r.Branch, work.Short(r.Commit)),
			Resume: fmt.Sprintf("look at what the branch is now (its head is %s), then %s to have the work resume from there; "+
				"or push the old history back and comment. Comments made until then are answered then", work.Short(r.Head), p.give(command.VerbUnblock)),
		}
	},
	work.WhyBranchGone: func(r work.Reason, _ Place) Words {
		return Words{
			What:   fmt.Sprintf("the branch %s is gone from the remote", r.Branch),
			Resume: "restore the branch (GitHub offers it on the pull request, which it closed) and reopen the pull request, or leave it closed to end the work", Retry: true,
		}
	},
	work.WhyBranchInTheWay: func(r work.Reason, p Place) Words {
		return fixed(fmt.Sprintf("the repository has a branch named %s, and git cannot have %s beside it", r.Name, r.Branch), fmt.Sprintf("rename or delete the branch %s", r.Name), p)
	},
	work.WhyBranchUnknown: func(r work.Reason, p Place) Words {
		return again(fmt.Sprintf("the branch %s is not as it was expected on the remote", r.Branch), p)
	},
	work.WhyBaseGone: func(r work.Reason, _ Place) Words {
		return Words{
			What: fmt.Sprintf("the base branch %s is gone from the remote", r.Branch),
			Fix:  "restore it, or give the pull request another base", Resume: "comment on the pull request", Retry: true,
		}
	},
	work.WhyNoCommit: func(r work.Reason, _ Place) Words {
		return Words{What: fmt.Sprintf("the repository has no commit on its default branch %s", r.Branch), Fix: "push a first commit", Resume: "set the label again", Retry: true}
	},
	work.WhyForeignPull: func(r work.Reason, _ Place) Words {
		return Words{
			What: fmt.Sprintf("pull request #%d for the branch %s exists already, and gh mergexo did not make it", r.Number, r.Branch),
			Fix:  fmt.Sprintf("close #%d and delete its branch", r.Number), Resume: "set the label again", Retry: true,
		}
	},
	work.WhyPushRefused: func(r work.Reason, p Place) Words {
		return Words{
			What: "the push was refused: " + r.Text, Fix: r.Advice,
			Resume: p.give(command.VerbRetry) + ", and what was made is pushed as it is. Or say in a comment what is to be made instead",
		}
	},
	work.WhyNoGitAccess: func(r work.Reason, _ Place) Words {
		return Words{What: "git has no access to the repository: " + r.Text, Resume: "run `gh auth status` and `gh auth setup-git`, or set remote_url in the config", Retry: true}
	},
	work.WhyGitHubRefused: func(r work.Reason, _ Place) Words {
		return Words{What: "GitHub refused: " + r.Text, Resume: "check what the account may do on the repository, and `gh auth status`", Retry: true}
	},
	work.WhyNotSigned: func(r work.Reason, p Place) Words {
		return fixed(r.Text, "make signing work without a prompt, or set commit.gpgsign to false", p)
	},
	work.WhyNobodySignsOff: func(_ work.Reason, p Place) Words {
		return fixed("commits are to be signed off, and git knows no user.name and user.email to do so",
			"where gh mergexo runs, set both by `git config --global`, or write `sign_off = \"Name <mail>\"` under [repo.voice] in the config", p)
	},
}
