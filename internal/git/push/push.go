// Package push sends commits to the remote's branches, and deletes branches there: only
// from where they are expected. What the remote says to it comes back as a typed error.
package push

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// Pushes are what a mirror sends to its remote.
type Pushes struct{ mirror *mirror.Mirror }

// Of are the pushes of a mirror.
func Of(m *mirror.Mirror) Pushes { return Pushes{m} }

// Push makes a commit the head of a remote branch that is expected to be at
// expectedOld ("" for a branch that must not exist), and never rewrites it.
//
// A *LeaseError says that the branch is elsewhere, a *RejectedError that a
// person must act, an *UnclearError that nobody knows: look before trying
// again. A push of what is there already succeeds. What the mirror knows of the branch is
// for the next fetch to say: whoever goes by it fetches first.
func (p Pushes) Push(ctx context.Context, branch, oid, expectedOld string) error {
	if err := p.checkPush(ctx, branch, oid, expectedOld); err != nil {
		return fmt.Errorf("push %s: %w", branch, err)
	}
	ref := "refs/heads/" + branch
	return p.send(ctx, branch, oid, expectedOld, "--force-with-lease="+ref+":"+expectedOld, p.mirror.URL(), oid+":"+ref)
}

// send pushes, and says what became of it. oid is what the branch is then: "" is absent.
func (p Pushes) send(ctx context.Context, branch, oid, expected string, args ...string) error {
	c := p.mirror.RemoteCall("push", "--porcelain", "--progress", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no")
	c.Args, c.Answers = append(c.Args, args...), []int{1}
	res, err := c.Run(ctx)
	if err != nil && res.Code == 0 {
		return &UnclearError{Branch: branch, Err: err}
	}
	if verdict, ok := readPush(branch, expected, string(res.Stdout), string(res.Stderr)); ok {
		return verdict
	}
	return p.noVerdict(ctx, branch, oid, err, string(res.Stderr))
}

// checkPush refuses what would rewrite history.
func (p Pushes) checkPush(ctx context.Context, branch, oid, expectedOld string) error {
	if err := mirror.CheckBranch(branch); err != nil {
		return err
	}
	if !p.mirror.Has(ctx, oid) {
		return &mirror.MissingError{OID: oid}
	}
	if expectedOld == "" {
		return nil
	}
	ok, err := p.mirror.IsAncestor(ctx, expectedOld, oid)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s does not descend from %s: history is not rewritten", oid, expectedOld)
	}
	return nil
}

// readPush reads the one status line of --porcelain:
// "<flag>\t<from>:<to>\t<summary> (<reason>)". ok is false when there is none.
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
			return refusal(branch, expected, f[2], stderr)
		}
	}
	return nil, false
}

// raceSigns are the reasons of a remote whose branch moved while we pushed.
var raceSigns = []string{
	"stale info", "fetch first", "non-fast-forward", "needs force", "cannot lock ref", "failed to lock", "failed to update ref",
	"reference already exists", "incorrect old value", "remote ref updated since checkout", "atomic",
}

// refusal says what a line with the flag "!" means.
func refusal(branch, expected, summary, stderr string) (error, bool) {
	kind, reason, _ := strings.Cut(summary, "] (")
	reason = strings.TrimSuffix(reason, ")")
	switch {
	case strings.HasPrefix(kind, "[remote failure"), strings.HasPrefix(kind, "[no match"), plumbing.Says(reason, []string{"failed to report status", "remote failed"}):
		return nil, false
	case plumbing.Says(reason, raceSigns):
		return &LeaseError{Branch: branch, Expected: expected, Detail: reason}, true
	}
	return rejected(branch, strings.Trim(reason+". "+remoteLines(stderr), " .")), true
}

// remoteLines is what the remote told people, on one line.
func remoteLines(stderr string) string {
	var told []string
	for line := range strings.Lines(stderr) {
		if s, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(s) != "" {
			told = append(told, strings.TrimSpace(s))
		}
	}
	return strings.Join(told[:min(len(told), 10)], " ")
}

// noVerdict is a push without a status line: it looks, and else tells what
// git said.
func (p Pushes) noVerdict(ctx context.Context, branch, oid string, err error, stderr string) error {
	if ctx.Err() == nil {
		heads, lookErr := p.mirror.RemoteHeads(ctx, branch)
		if lookErr == nil && heads[branch] == oid {
			return nil
		}
		var access *plumbing.AccessError
		if plumbing.Says(stderr, plumbing.AccessSigns) && (lookErr == nil || errors.As(lookErr, &access)) {
			return rejected(branch, plumbing.LastLines(stderr, 4))
		}
	}
	if err == nil {
		err = errors.New(cmp.Or(plumbing.LastLines(stderr, 4), "git said nothing"))
	}
	return &UnclearError{Branch: branch, Err: err}
}
