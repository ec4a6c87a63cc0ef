package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Push moves a remote branch from expectedOld ("" for a branch that must not exist) to a commit. It
// never rewrites history, and succeeds if the branch is there already.
//
// A *LeaseError means that the branch is elsewhere, a *RejectedError that a person must act, an
// *UnclearError that the outcome is unknown: look before trying again. The tracking ref changes
// only with the next fetch; callers that read it fetch first.
func (m *Mirror) Push(ctx context.Context, branch, oid, expectedOld string) error {
	if err := m.checkPush(ctx, branch, oid, expectedOld); err != nil {
		return fmt.Errorf("push %s: %w", branch, err)
	}
	ref := "refs/heads/" + branch
	return m.push(ctx, branch, oid, expectedOld, "--force-with-lease="+ref+":"+expectedOld, m.URL(), oid+":"+ref)
}

// push sends refs and returns the outcome. oid is the branch's head after success, "" for a deleted
// branch.
func (m *Mirror) push(ctx context.Context, branch, oid, expected string, args ...string) error {
	c := m.remoteCommand(ctx, "push", "--porcelain", "--progress", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no")
	c.Args, c.Answers = append(c.Args, args...), []int{1}
	res, err := c.Run(ctx)
	if err != nil && res.Code == 0 {
		return &UnclearError{Branch: branch, Err: err}
	}
	if verdict, ok := readPush(branch, expected, string(res.Stdout), string(res.Stderr)); ok {
		return verdict
	}
	return m.settleUnclearPush(ctx, branch, oid, err, string(res.Stderr))
}

// checkPush refuses pushes that would rewrite history.
func (m *Mirror) checkPush(ctx context.Context, branch, oid, expectedOld string) error {
	if err := checkBranch(branch); err != nil {
		return err
	}
	if !m.Has(ctx, oid) {
		return &MissingError{OID: oid}
	}
	if expectedOld == "" {
		return nil
	}
	ok, err := m.IsAncestor(ctx, expectedOld, oid)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s does not descend from %s: history is not rewritten", oid, expectedOld)
	}
	return nil
}

// readPush parses the status line of --porcelain: "<flag>\t<from>:<to>\t<summary> (<reason>)". ok
// is false if there is none.
func readPush(branch, expected, stdout, stderr string) (verdict error, ok bool) {
	for line := range strings.Lines(stdout) {
		f := strings.SplitN(strings.TrimRight(line, "\r\n"), "\t", 3)
		if len(f) != 3 || !strings.HasSuffix(f[1], ":refs/heads/"+branch) {
			continue
		}
		switch f[0] {
		case " ", "+", "*", "=", "-":
			return nil, true
		case "!":
			return pushRefusal(branch, expected, f[2], stderr)
		}
	}
	return nil, false
}

// raceSigns are the reasons given when the branch moved during the push.
var raceSigns = []string{
	"stale info", "fetch first", "non-fast-forward", "needs force", "cannot lock ref", "failed to lock", "failed to update ref",
	"reference already exists", "incorrect old value", "remote ref updated since checkout", "atomic",
}

// pushRefusal interprets a status line with the flag "!".
func pushRefusal(branch, expected, summary, stderr string) (error, bool) {
	kind, reason, _ := strings.Cut(summary, "] (")
	reason = strings.TrimSuffix(reason, ")")
	switch {
	case strings.HasPrefix(kind, "[remote failure"), strings.HasPrefix(kind, "[no match"), containsSign(reason, []string{"failed to report status", "remote failed"}):
		return nil, false
	case containsSign(reason, raceSigns):
		return &LeaseError{Branch: branch, Expected: expected, Detail: reason}, true
	}
	return rejectedError(branch, strings.Trim(reason+". "+remoteLines(stderr), " .")), true
}

// remoteLines returns the remote's messages (at most 10 lines) on one line.
func remoteLines(stderr string) string {
	var told []string
	for line := range strings.Lines(stderr) {
		if s, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(s) != "" {
			told = append(told, strings.TrimSpace(s))
		}
	}
	return strings.Join(told[:min(len(told), 10)], " ")
}

// settleUnclearPush handles a push without a status line. It looks where the branch is; if that
// settles nothing, git's output decides.
func (m *Mirror) settleUnclearPush(ctx context.Context, branch, oid string, err error, stderr string) error {
	if ctx.Err() == nil {
		heads, lookErr := m.RemoteHeads(ctx, branch)
		if lookErr == nil && heads[branch] == oid {
			return nil
		}
		var access *AccessError
		if containsSign(stderr, accessSigns) && (lookErr == nil || errors.As(lookErr, &access)) {
			return rejectedError(branch, gist(stderr, 4))
		}
	}
	if err == nil {
		err = errors.New(cmp.Or(gist(stderr, 4), "git said nothing"))
	}
	return &UnclearError{Branch: branch, Err: err}
}

// rejections map texts of remotes that refuse a push to a plain reason and to advice for a person.
// GitHub's are documented under
// https://docs.github.com/en/get-started/using-git/troubleshooting-the-2-gb-push-limit and on
// neighbouring pages, or were observed. The first match wins: a secret is also reported as a broken
// rule, and every rule as a hook that declined.
var rejections = []struct {
	signs []string // lower case
	what  string
	hint  string
}{
	{
		[]string{"workflow` scope", "workflows permission", "without `workflows`"},
		"the token may not change workflow files",
		"give it the workflow scope: `gh auth refresh -s workflow`, or on GitHub among the settings of the token",
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
		"give the account write permission, or log in as one that has it: `gh auth login`; if `gh auth status` names a variable, give that its token",
	},
	{
		[]string{"hook declined", "pre-receive hook", "update hook"},
		"a hook of the remote does not take the change",
		"do what the hook says, or have it take the change",
	},
}

// rejectedError explains a refusal and quotes the remote.
func rejectedError(branch, told string) *RejectedError {
	e := &RejectedError{Branch: branch, Reason: "the remote does not take it", Hint: "see what the remote says, and let the account push: see `gh auth status`"}
	for _, r := range rejections {
		if containsSign(told, r.signs) {
			e.Reason, e.Hint = r.what, r.hint
			break
		}
	}
	if told != "" {
		e.Reason += ". The remote says: " + told
	}
	return e
}
