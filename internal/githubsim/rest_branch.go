package githubsim

import "net/http"

var branchRoutes = []route{
	{"GET /branches/{branch}", getBranch},
}

// guardedJSON is a branch with what every reader sees of its classic protection.
type guardedJSON struct {
	Name          string         `json:"name"`
	Commit        commitJSON     `json:"commit"`
	Links         branchLinks    `json:"_links"`
	Protected     bool           `json:"protected"`
	Protection    openProtection `json:"protection"`
	ProtectionURL string         `json:"protection_url"`
}

type branchLinks struct {
	HTML string `json:"html"`
	Self string `json:"self"`
}

type openProtection struct {
	Enabled bool       `json:"enabled"`
	Checks  openChecks `json:"required_status_checks"`
}

type openChecks struct {
	Enforced string                `json:"enforcement_level"`
	Contexts []string              `json:"contexts"`
	Checks   []protectionCheckJSON `json:"checks"`
}

// getBranch shows of a protection no more than that there is one, and the names of the checks.
func getBranch(c *call) (reply, *apiError) {
	name := c.r.PathValue("branch")
	oid, found := c.repo.git.head(name)
	if !found {
		return reply{}, refusal(http.StatusNotFound, "Branch not found")
	}
	tip, err := c.repo.git.commit(oid)
	if err != nil {
		return reply{}, gitFailed(err)
	}
	guard, guarded := c.repo.protected[name]
	at := c.urls.at(c.repo) + "/branches/" + escapePath(name)
	out := guardedJSON{
		Name: name, Commit: c.commit(c.repo, tip), Links: branchLinks{c.urls.page(c.repo) + "/tree/" + escapePath(name), at},
		Protected: guarded || len(c.repo.rulesetsOf(name)) > 0, ProtectionURL: at + "/protection",
		Protection: openProtection{guarded, openChecks{"off", []string{}, []protectionCheckJSON{}}},
	}
	if len(guard.Checks) > 0 {
		out.Protection.Checks.Enforced, out.Protection.Checks.Contexts = "non_admins", guard.Checks
		for _, check := range guard.Checks {
			out.Protection.Checks.Checks = append(out.Protection.Checks.Checks, protectionCheckJSON{Context: check})
		}
	}
	return ok(out), nil
}
