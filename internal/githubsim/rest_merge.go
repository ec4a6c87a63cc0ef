package githubsim

import (
	"fmt"
	"net/http"
	"strings"
)

var mergeRoutes = []route{
	{"PUT /pulls/{number}/merge", withPull(putMerge)},
	{"PUT /pulls/{number}/update-branch", withPull(updateBranch)},
	{"DELETE /git/refs/{ref...}", deleteRef},
	{"GET /rules/branches/{branch...}", listRules},
	{"GET /branches/{branch}/protection", getProtection},
}

// mergedJSON is the answer of a merge.
type mergedJSON struct {
	SHA     string `json:"sha"`
	Merged  bool   `json:"merged"`
	Message string `json:"message"`
}

func putMerge(c *call, p *pull) (reply, *apiError) {
	var in struct {
		SHA     string `json:"sha"`
		Title   string `json:"commit_title"`
		Message string `json:"commit_message"`
		Method  string `json:"merge_method"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	oid, e := c.repo.mergePull(c.viewer, p, mergeOrder{method: in.Method, sha: in.SHA, title: in.Title, message: in.Message})
	if e != nil {
		return reply{}, e
	}
	return ok(mergedJSON{SHA: oid, Merged: true, Message: "Pull Request successfully merged"}), nil
}

// updateJSON is the answer of update-branch.
type updateJSON struct {
	Message string `json:"message"`
	URL     string `json:"url"`
}

func updateBranch(c *call, p *pull) (reply, *apiError) {
	var in struct {
		Expected string `json:"expected_head_sha"`
	}
	if e := c.decode(&in); e != nil {
		return reply{}, e
	}
	do, e := c.repo.updateBranch(c.viewer, p, in.Expected)
	if e != nil {
		return reply{}, e
	}
	if c.repo.lateUpdates {
		c.repo.updates = append(c.repo.updates, do)
	} else {
		do()
	}
	return reply{status: http.StatusAccepted, body: updateJSON{"Updating pull request branch.", c.urls.issuePage(p.issue)}}, nil
}

func deleteRef(c *call) (reply, *apiError) {
	if e := c.repo.need(c.viewer, "write"); e != nil {
		return reply{}, e
	}
	name := c.r.PathValue("ref")
	branch, isBranch := strings.CutPrefix(name, "heads/")
	_, found := c.repo.git.head(branch)
	switch {
	case !isBranch || !found:
		return reply{}, refusal(http.StatusUnprocessableEntity, "Reference does not exist")
	case branch == c.repo.defaultBranch:
		return reply{}, refusal(http.StatusUnprocessableEntity, "Cannot delete the default branch")
	}
	if err := c.repo.git.deleteRef("refs/heads/" + branch); err != nil {
		return reply{}, gitFailed(err)
	}
	c.repo.acceptPush(c.viewer)
	return noContent(), nil
}

// ruleJSON is one rule of an active ruleset.
type ruleJSON struct {
	Type       string `json:"type"`
	SourceType string `json:"ruleset_source_type"`
	Source     string `json:"ruleset_source"`
	RulesetID  int64  `json:"ruleset_id"`
	Parameters any    `json:"parameters,omitempty"`
}

type pullRuleJSON struct {
	DismissStale  bool     `json:"dismiss_stale_reviews_on_push"`
	CodeOwners    bool     `json:"require_code_owner_review"`
	LastPush      bool     `json:"require_last_push_approval"`
	Approvals     int      `json:"required_approving_review_count"`
	Conversations bool     `json:"required_review_thread_resolution"`
	Methods       []string `json:"allowed_merge_methods"`
}

type requiredCheckJSON struct {
	Context string `json:"context"`
}

type checksRuleJSON struct {
	Checks   []requiredCheckJSON `json:"required_status_checks"`
	Strict   bool                `json:"strict_required_status_checks_policy"`
	OnCreate bool                `json:"do_not_enforce_on_create"`
}

type queueRuleJSON struct {
	Method       string `json:"merge_method"`
	Grouping     string `json:"grouping_strategy"`
	CheckTimeout int    `json:"check_response_timeout_minutes"`
	MaxBuild     int    `json:"max_entries_to_build"`
	MaxMerge     int    `json:"max_entries_to_merge"`
	MinMerge     int    `json:"min_entries_to_merge"`
	MinWait      int    `json:"min_entries_to_merge_wait_minutes"`
}

// listRules lists what rulesets say of a branch, there or not, to whoever reads the repository.
// Classic protections are not among it.
func listRules(c *call) (reply, *apiError) {
	var list []ruleJSON
	for _, s := range c.repo.rulesetsOf(c.r.PathValue("branch")) {
		add := func(kind string, parameters any) {
			list = append(list, ruleJSON{kind, "Repository", c.repo.fullName(), s.id, parameters})
		}
		s.encode(add)
	}
	return pageOf(c, list, func(j ruleJSON) ruleJSON { return j }), nil
}

func (s *ruleset) encode(add func(kind string, parameters any)) {
	add("deletion", nil)
	add("non_fast_forward", nil)
	if s.Linear {
		add("required_linear_history", nil)
	}
	if s.Approvals > 0 || s.DismissStale || s.LastPush || s.Conversations || len(s.Methods) > 0 {
		methods := s.Methods
		if len(methods) == 0 {
			methods = []string{"merge", "squash", "rebase"}
		}
		add("pull_request", pullRuleJSON{
			DismissStale: s.DismissStale, LastPush: s.LastPush, Approvals: s.Approvals, Conversations: s.Conversations, Methods: methods,
		})
	}
	if len(s.Checks) > 0 {
		checks := checksRuleJSON{Strict: s.Strict}
		for _, name := range s.Checks {
			checks.Checks = append(checks.Checks, requiredCheckJSON{name})
		}
		add("required_status_checks", checks)
	}
	if s.Queue != "" {
		add("merge_queue", queueRuleJSON{
			Method: strings.ToUpper(s.Queue), Grouping: "ALLGREEN", CheckTimeout: 60, MaxBuild: 5, MaxMerge: 5, MinMerge: 1, MinWait: 5,
		})
	}
}

type enabledJSON struct {
	Enabled bool `json:"enabled"`
}

type urlEnabledJSON struct {
	URL     string `json:"url"`
	Enabled bool   `json:"enabled"`
}

// protectionJSON is a classic protection.
type protectionJSON struct {
	URL           string                `json:"url"`
	Checks        *protectionChecksJSON `json:"required_status_checks,omitempty"`
	Reviews       *protectionPullJSON   `json:"required_pull_request_reviews,omitempty"`
	Admins        urlEnabledJSON        `json:"enforce_admins"`
	Linear        enabledJSON           `json:"required_linear_history"`
	ForcePushes   enabledJSON           `json:"allow_force_pushes"`
	Deletions     enabledJSON           `json:"allow_deletions"`
	Conversations enabledJSON           `json:"required_conversation_resolution"`
}

type protectionChecksJSON struct {
	URL         string                `json:"url"`
	Strict      bool                  `json:"strict"`
	Contexts    []string              `json:"contexts"`
	ContextsURL string                `json:"contexts_url"`
	Checks      []protectionCheckJSON `json:"checks"`
}

type protectionCheckJSON struct {
	Context string `json:"context"`
	AppID   *int   `json:"app_id"`
}

type protectionPullJSON struct {
	URL          string `json:"url"`
	DismissStale bool   `json:"dismiss_stale_reviews"`
	CodeOwners   bool   `json:"require_code_owner_reviews"`
	Approvals    int    `json:"required_approving_review_count"`
	LastPush     bool   `json:"require_last_push_approval"`
}

// getProtection shows a protection to administrators. To others there is none.
func getProtection(c *call) (reply, *apiError) {
	branch := c.r.PathValue("branch")
	if !c.repo.can(c.viewer, "admin") {
		return reply{}, notFound()
	}
	guard, found := c.repo.protected[branch]
	if !found {
		return reply{}, refusal(http.StatusNotFound, "Branch not protected")
	}
	at := fmt.Sprintf("%s/branches/%s/protection", c.urls.at(c.repo), escapePath(branch))
	out := protectionJSON{
		URL: at, Admins: urlEnabledJSON{at + "/enforce_admins", true}, Linear: enabledJSON{guard.Linear}, Conversations: enabledJSON{guard.Conversations},
	}
	if len(guard.Checks) > 0 {
		out.Checks = &protectionChecksJSON{URL: at + "/required_status_checks", Strict: guard.Strict, Contexts: guard.Checks, ContextsURL: at + "/required_status_checks/contexts"}
		for _, name := range guard.Checks {
			out.Checks.Checks = append(out.Checks.Checks, protectionCheckJSON{Context: name})
		}
	}
	if guard.Approvals > 0 || guard.DismissStale || guard.LastPush {
		out.Reviews = &protectionPullJSON{at + "/required_pull_request_reviews", guard.DismissStale, false, guard.Approvals, guard.LastPush}
	}
	return ok(out), nil
}
