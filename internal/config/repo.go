package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// repo checks a [[repo]] table with all tables below it.
func (p *parser) repo(i int) {
	r, t := &p.config.Repos[i], p.at("repo["+strconv.Itoa(i)+"]")
	for j, other := range p.config.Repos[:i] {
		if r.Name != (work.RepoName{}) && other.Name.Equal(r.Name) {
			t.bad("name", "%s is configured twice; the other is on line %d", r.Name.FullName(), p.lines().find("repo["+strconv.Itoa(j)+"].name"))
		}
	}
	r.RemoteURL = environ.ExpandHome(r.RemoteURL, p.env.Home)
	if why := remoteProblem(r.RemoteURL); why != "" {
		t.bad("remote_url", "%s", why)
	}
	p.checkAccount(t, *r)
	for _, u := range r.AllowedUsers {
		if why := LoginProblem(u); why != "" {
			t.bad("allowed_users", "%s", why)
		}
	}
	for _, named := range [][2]string{{"agent", r.Agent}, {"review_agent", r.ReviewAgent}} {
		if named[1] != "" {
			p.checkAgentName(t.to(named[0]), t.called(named[0]), named[1])
		}
	}
	if len(r.RequiredTests) > 0 {
		p.checkCommand(t, "required_tests", r.RequiredTests, `["make", "test"]`)
	}
	if len(r.Setup) > 0 {
		p.checkCommand(t, "setup", r.Setup, `["npm", "ci"]`)
	}
	if !t.has("protected_paths") {
		r.ProtectedPaths = defaultProtectedPaths()
	}
	checkGlobs(t, "protected_paths", r.ProtectedPaths)
	r.Labels = labelsOf(r.LabelPrefix)
	if why := labelProblem(r.Labels.HumanReview); why != "" { // the longest
		t.bad("label_prefix", "the label %q %s", r.Labels.HumanReview, why)
	}
	p.voice(p.at(t.to("voice")), &r.Voice)
	p.review(p.at(t.to("review")), &r.Review)
	r.Reviewers = p.reviewers(t.to("reviewers"), r.Reviewers)
}

// checkAccount checks that one account at most is named for a host.
func (p *parser) checkAccount(t place, r Repo) {
	if r.Account == "" {
		return
	}
	if !login().MatchString(r.Account) {
		t.bad("account", "%q is no GitHub login; gh auth status shows those that gh has", r.Account)
	}
	if other := p.config.AccountOn(r.Name.Host); other != "" && !strings.EqualFold(other, r.Account) {
		t.bad("account", "passes work with one account on %s, and another [[repo]] names %q", r.Name.Host, other)
	}
}

// AccountOn returns gh's account with which passes work on a host; empty: the one that gh is logged in as.
func (c *Config) AccountOn(host string) string {
	for _, r := range c.Repos {
		if r.Name.Host == host && r.Account != "" {
			return r.Account
		}
	}
	return ""
}

// LoginProblem says why a text is no login, and no login with its account's id; empty: it is one.
func LoginProblem(text string) string {
	if name, id, given := strings.Cut(text, ":"); !login().MatchString(name) || given && !accountID().MatchString(id) {
		return strconv.Quote(text) + ` is no GitHub login, nor one with its account's id as in "octocat:583231"`
	}
	return ""
}

var (
	// login matches GitHub's account names, with the suffix of apps and the underscore of managed users.
	login = lazy.Regexp(`^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?$`)
	// accountID matches GitHub's number of an account.
	accountID = lazy.Regexp(`^[1-9][0-9]{0,17}$`)
	scpForm   = lazy.Regexp(`^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^:]+$`)
)

// remoteProblem says why git must not or cannot use a remote; empty: it may.
func remoteProblem(remote string) string {
	u, err := url.Parse(remote)
	switch {
	case remote == "":
	case strings.HasPrefix(remote, "-") || strings.ContainsFunc(remote, unicode.IsControl):
		return strconv.Quote(remote) + " is no address"
	case strings.Contains(remote, "::"):
		return strconv.Quote(remote) + " names a program as transport, which is not allowed"
	case filepath.IsAbs(remote):
	case err == nil && slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		if _, has := u.User.Password(); has || (u.User != nil && u.Scheme != "ssh") {
			return "holds a user name or password; remove it, gh's login is used"
		}
	case !scpForm().MatchString(remote):
		return strconv.Quote(remote) + " is neither an address (https://…, ssh://…, git@host:owner/name.git) nor an absolute path"
	}
	return ""
}

// defaultProtectedPaths returns the paths that no push may change by default. A workflow pushed by
// an agent would run with the repository's secrets, as would files of other systems that act on a
// push; CODEOWNERS decides who must approve.
func defaultProtectedPaths() []string {
	return []string{
		".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}", ".github/dependabot.{yml,yaml}",
		"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
		".gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".travis.yml", "**/Jenkinsfile", "azure-pipelines.{yml,yaml}", ".azure-pipelines/**", ".buildkite/**",
		".drone.yml", ".woodpecker.{yml,yaml}", ".woodpecker/**", "bitbucket-pipelines.yml", "{,.}appveyor.yml", ".cirrus.{yml,star}", ".semaphore/**",
		".teamcity/**", ".forgejo/**", ".gitea/**", "{buildspec,cloudbuild}.{yml,yaml}", ".tekton/**",
		"**/.devcontainer/**", "**/.devcontainer.json",
	}
}

func checkGlobs(t place, key string, globs []string) {
	for _, glob := range globs {
		if why := globProblem(glob); why != "" {
			t.bad(key, "%q %s", glob, why)
		}
	}
}

// globProblem returns why a glob cannot protect anything, or "".
func globProblem(glob string) string {
	switch {
	case strings.TrimSpace(glob) == "":
		return "is empty"
	case !doublestar.ValidatePattern(glob):
		return "is no pattern: look for a missing ] or } in it"
	case strings.HasPrefix(glob, "/") || strings.Contains(glob, `\`):
		return "matches nothing: write it relative to the repository's root, with slashes"
	case slices.Contains(strings.Split(glob, "/"), "..") || strings.HasPrefix(glob, "./"):
		return "matches nothing: write it without . and .."
	case strings.HasSuffix(glob, "/"):
		return "matches no file: write " + glob + "** for all that is in a folder"
	}
	return ""
}

// RoadmapLimits returns a function for the limits of the roadmaps in a repository. For one that the
// config does not name, those of home hold.
func (c *Config) RoadmapLimits(home work.RepoName) func(work.RepoName) roadmap.Limits {
	return func(name work.RepoName) roadmap.Limits {
		r, ok := c.Repo(name)
		if !ok {
			r, _ = c.Repo(home)
		}
		return r.Roadmap
	}
}
