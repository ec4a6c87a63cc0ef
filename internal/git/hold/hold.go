// Package hold has one installation work on a repository at a time, where several machines
// share the repositories: a ref of the remote says which one, and until when. Git moves a
// ref only from where it is expected, so that of two that want it one gets it.
package hold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// Ref is the ref, on the remote and in the mirror. It is no branch: nothing builds it, no
// rule of branches is about it, and a clone does not bring it.
const Ref = "refs/mergexo/share"

// Hold is who may work on a repository.
type Hold struct {
	By    string    `json:"by"`    // an installation
	Since time.Time `json:"since"` // it has been that one's without a break
	Until time.Time `json:"until"` // from then on anybody may take it
}

// TakenError says that somebody else moved the ref. Nothing was changed.
type TakenError struct{ Expected, Found string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is at %q, and not at %q: another machine took it", Ref, e.Found, e.Expected)
}

// Holds are a mirror's.
type Holds struct{ mirror *mirror.Mirror }

// Of are those of a mirror.
func Of(m *mirror.Mirror) Holds { return Holds{m} }

// ReadHold asks the remote who holds the repository, and where the ref is; nobody: "". What
// nobody can read is held by nobody: it ends at once.
func (h Holds) ReadHold(ctx context.Context) (Hold, string, error) {
	oid, err := h.remote(ctx)
	if err != nil || oid == "" {
		return Hold{}, "", err
	}
	if !h.mirror.Has(ctx, oid) {
		fetch := h.mirror.RemoteCall("fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", h.mirror.URL(), "+"+Ref+":"+Ref)
		if _, err := fetch.Run(ctx); err != nil {
			return Hold{}, "", fmt.Errorf("read who works on the repository: %w", plumbing.RemoteError("fetch", err))
		}
	}
	res, err := h.mirror.Call("cat-file", "commit", oid).Run(ctx)
	if err != nil {
		return Hold{}, oid, nil //nolint:nilerr // moved since, or no commit: whoever wants it moves it from oid
	}
	_, message, _ := strings.Cut(string(res.Stdout), "\n\n")
	var held Hold
	if err := json.Unmarshal([]byte(message), &held); err == nil {
		return held, oid, nil
	}
	return Hold{}, oid, nil
}

// PutHold stores who holds the repository, in place of old ("": nobody), and gives where the
// ref is then. A *TakenError says that it is not at old any more.
func (h Holds) PutHold(ctx context.Context, held Hold, old string) (string, error) {
	oid, err := h.commit(ctx, held)
	if err != nil {
		return "", fmt.Errorf("store who works on the repository: %w", err)
	}
	return oid, h.move(ctx, old, oid, oid+":"+Ref)
}

// DropHold has nobody hold the repository.
func (h Holds) DropHold(ctx context.Context, old string) error {
	return h.move(ctx, old, "", ":"+Ref)
}

// move pushes, and looks where git did not succeed: the answer may have been lost.
func (h Holds) move(ctx context.Context, from, to, spec string) error {
	push := h.mirror.RemoteCall("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+Ref+":"+from, h.mirror.URL(), spec)
	_, err := push.Run(ctx)
	if err == nil {
		return nil
	}
	at, lookErr := h.remote(ctx)
	switch {
	case lookErr != nil:
		return fmt.Errorf("move %s: %w", Ref, errors.Join(plumbing.RemoteError("push", err), lookErr))
	case at == to:
		return nil
	case at != from:
		return &TakenError{Expected: from, Found: at}
	}
	return fmt.Errorf("move %s, by which machines that make passes with --shard know who works on the repository: %w", Ref, plumbing.RemoteError("push", err))
}

// remote is where the remote has the ref; "": it has none.
func (h Holds) remote(ctx context.Context) (string, error) {
	res, err := h.mirror.RemoteCall("ls-remote", h.mirror.URL(), Ref).Run(ctx)
	if err != nil {
		return "", fmt.Errorf("ask who works on the repository: %w", plumbing.RemoteError("ls-remote", err))
	}
	at := ""
	for line := range strings.Lines(string(res.Stdout)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case name != Ref: // what is asked for fits the end of a name, too, and what is pushed goes there
			return "", fmt.Errorf("ask who works on the repository: %s is in the way of %s: delete or rename it", name, Ref)
		case !mirror.ValidOID(oid):
			return "", fmt.Errorf("ask who works on the repository: %q is no object id", oid)
		}
		at = oid
	}
	return at, nil
}

// commit makes a commit without files whose message is the hold.
func (h Holds) commit(ctx context.Context, held Hold) (string, error) {
	message, err := json.Marshal(held)
	if err != nil {
		return "", fmt.Errorf("encode the hold: %w", err)
	}
	tree := h.mirror.Call("hash-object", "-w", "-t", "tree", "--stdin")
	tree.Stdin = []byte{}
	empty, err := tree.Text(ctx)
	if err != nil {
		return "", err
	}
	c := h.mirror.Call("commit-tree", "-m", string(message), strings.TrimSpace(empty))
	date := held.Until.UTC().Format(time.RFC3339)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.Env = append(c.Env, "GIT_"+who+"_NAME=gh mergexo", "GIT_"+who+"_EMAIL=gh-mergexo@users.noreply.github.com", "GIT_"+who+"_DATE="+date)
	}
	oid, err := c.Text(ctx)
	return strings.TrimSpace(oid), err
}
