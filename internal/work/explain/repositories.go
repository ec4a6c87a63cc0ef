package explain

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// repositories are the reasons for which a whole repository is not worked on.
var repositories = table{
	work.WhyAccountChanged: func(r work.Reason, _ Place) Words {
		return Words{
			What: fmt.Sprintf("gh is logged in as %s, and earlier passes worked as another account", r.Who),
			Fix:  fmt.Sprintf("log in as before, or accept this one: accounts = [%d] under [runtime] in the config", r.Number),
		}
	},
	work.WhyRepoArchived: func(r work.Reason, _ Place) Words {
		return Words{What: r.Name + " is archived", Fix: "remove it from the config, or unarchive it"}
	},
	work.WhyRepoReadOnly: func(r work.Reason, _ Place) Words {
		return Words{
			What: "the account that gh is logged in with may not push to " + r.Name,
			Fix:  "ask for write permission, or log in as somebody who has it: gh auth login",
		}
	},
	work.WhyRepoMissing: func(r work.Reason, _ Place) Words {
		return Words{
			What: fmt.Sprintf("repository %s does not exist, or the account that gh is logged in with cannot see it", r.Name),
			Fix:  "check its name in the config, and `gh auth status`",
		}
	},
	work.WhyRepoTwice: func(r work.Reason, _ Place) Words {
		return Words{
			What: fmt.Sprintf("%s in the config are one repository, which is %s now", work.JoinNames(r.Names), r.Name),
			Fix:  "take one of the two out of the config",
		}
	},
}
