package push

import "github.com/mergexo/gh-mergexo/internal/git/plumbing"

// rejections say in plain words why remotes refuse a push, and what a person can
// do about it, by signs in what they print. GitHub's are documented under
// https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit
// and its neighbours, or were seen. The first one that fits is meant: a secret
// is told as a broken rule, and every rule as a hook that declined.
var rejections = []struct {
	signs []string // lower case
	what  string
	hint  string
}{
	{
		[]string{"workflow` scope", "workflows permission", "without `workflows`"},
		"the token may not change workflow files",
		"give gh the workflow scope: `gh auth refresh -s workflow`",
	},
	{
		[]string{"gh009", "secret"},
		"the remote found a secret in the change",
		"allow it where the remote says how, if it is none",
	},
	{
		[]string{"gh001", "large file", "exceeds github's file size limit"},
		"a file in the change is too large for the remote",
		"have the remote take files of that size",
	},
	{
		[]string{"archived so it is read-only"},
		"the repository is archived",
		"unarchive it",
	},
	{
		[]string{"saml sso"},
		"the organization asks for single sign-on, for which the token is not authorized",
		"authorize it: `gh auth refresh`, or on GitHub among the settings of the token",
	},
	{
		[]string{"protected branch", "gh006", "gh013", "rule violations"},
		"the rules of the repository do not let the account push to this branch",
		"let the rules leave out branches that begin with `agent/`, or let the account bypass them",
	},
	{
		[]string{"permission to ", "permission denied", "denied to ", "write access to repository not granted", "returned error: 403"},
		"the account may not push to the repository",
		"give the account write permission, or log in as one that has it: `gh auth login`, and see `gh auth status`",
	},
	{
		[]string{"hook declined", "pre-receive hook", "update hook"},
		"a hook of the remote does not take the change",
		"do what the hook says, or have it take the change",
	},
}

// rejected says what a refusal means, with the remote's own words.
func rejected(branch, told string) *RejectedError {
	e := &RejectedError{Branch: branch, Reason: "the remote does not take it", Hint: "see what the remote says, and let the account push: see `gh auth status`"}
	for _, r := range rejections {
		if plumbing.Says(told, r.signs) {
			e.Reason, e.Hint = r.what, r.hint
			break
		}
	}
	if told != "" {
		e.Reason += ". The remote says: " + told
	}
	return e
}
