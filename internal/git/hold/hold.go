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

	// Stopped is why merging is stopped there, in the words of StopRef, where the remote does
	// not say so by that; empty: nothing is to be passed on.
	Stopped string `json:"stopped,omitempty"`

	// HasStop is that the remote has StopRef, which came with the answer about the hold.
	HasStop bool `json:"-"`
}

// TakenError says that somebody else moved the ref. Nothing was changed.
type TakenError struct{ Ref, Expected, Found string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is at %q, and not at %q: another machine moved it", e.Ref, e.Found, e.Expected)
}

// Holds are a mirror's.
type Holds struct{ mirror *mirror.Mirror }

// Of are those of a mirror.
func Of(m *mirror.Mirror) Holds { return Holds{m} }

// ReadHold asks the remote who holds the repository, and where the ref is; nobody: "". What
// nobody can read is held by nobody: it ends at once.
func (h Holds) ReadHold(ctx context.Context) (Hold, string, error) {
	message, oid, hasStop, err := h.read(ctx, toHold, StopRef)
	if err != nil {
		return Hold{}, "", err
	}
	var held Hold
	if err := json.Unmarshal([]byte(message), &held); err != nil {
		held = Hold{}
	}
	held.HasStop = hasStop
	return held, oid, nil
}

// signal is a ref of the remote whose commit says something to all machines, in its message.
type signal struct {
	ref  string
	asks string // what is found out by it
}

var toHold = signal{Ref, "who works on the repository"}

// longestMessage is how much of a commit is read, in bytes. What is longer is cut, and cannot be
// read: ours are much shorter.
const longestMessage = 256 << 10

// read asks the remote for a message, and where its ref is; there is none: "". Of what is no
// commit there is none, either. Whether another ref is there is told with it.
func (h Holds) read(ctx context.Context, s signal, beside string) (message, oid string, isBeside bool, err error) {
	oid, isBeside, err = h.ask(ctx, s, beside)
	if err != nil || oid == "" {
		return "", "", isBeside, err
	}
	if !h.mirror.Has(ctx, oid) {
		fetch := h.mirror.RemoteCall("fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", h.mirror.URL(), "+"+s.ref+":"+s.ref)
		if _, err := fetch.Run(ctx); err != nil {
			return "", "", isBeside, fmt.Errorf("read %s: %w", s.asks, plumbing.RemoteError("fetch", err))
		}
	}
	look := h.mirror.Call("cat-file", "commit", oid)
	look.Most = longestMessage // anybody who may push can write it
	res, err := look.Run(ctx)
	if err != nil {
		return "", oid, isBeside, nil //nolint:nilerr // moved since, or no commit: whoever wants it moves it from oid
	}
	_, message, _ = strings.Cut(string(res.Stdout), "\n\n")
	return message, oid, isBeside, nil
}

// PutHold stores who holds the repository, in place of old ("": nobody), and gives where the
// ref is then. A *TakenError says that it is not at old any more.
func (h Holds) PutHold(ctx context.Context, held Hold, old string) (string, error) {
	message, err := json.Marshal(held)
	if err != nil {
		return "", fmt.Errorf("encode the hold: %w", err)
	}
	oid, err := h.commit(ctx, string(message), held.Until)
	if err != nil {
		return "", fmt.Errorf("store who works on the repository: %w", err)
	}
	return oid, h.move(ctx, toHold, old, oid)
}

// DropHold has nobody hold the repository.
func (h Holds) DropHold(ctx context.Context, old string) error {
	return h.move(ctx, toHold, old, "")
}

// move pushes, and looks where git did not succeed: the answer may have been lost.
func (h Holds) move(ctx context.Context, s signal, from, to string) error {
	push := h.mirror.RemoteCall("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+s.ref+":"+from, h.mirror.URL(), to+":"+s.ref)
	_, err := push.Run(ctx)
	if err == nil {
		return nil
	}
	at, lookErr := h.remote(ctx, s)
	switch {
	case lookErr != nil:
		return fmt.Errorf("move %s: %w", s.ref, errors.Join(plumbing.RemoteError("push", err), lookErr))
	case at == to:
		return nil
	case at != from:
		return &TakenError{Ref: s.ref, Expected: from, Found: at}
	}
	return fmt.Errorf("move %s, by which machines know %s: %w", s.ref, s.asks, plumbing.RemoteError("push", err))
}

// remote is where the remote has the ref; "": it has none.
func (h Holds) remote(ctx context.Context, s signal) (string, error) {
	at, _, err := h.ask(ctx, s, "")
	return at, err
}

// ask asks the remote where it has the ref, and whether it has another one ("": no matter).
func (h Holds) ask(ctx context.Context, s signal, beside string) (at string, isBeside bool, err error) {
	args := []string{"ls-remote", h.mirror.URL(), s.ref}
	if beside != "" {
		args = append(args, beside)
	}
	res, err := h.mirror.RemoteCall(args...).Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("ask %s: %w", s.asks, plumbing.RemoteError("ls-remote", err))
	}
	for line := range strings.Lines(string(res.Stdout)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case beside != "" && strings.HasSuffix(name, beside): // whoever reads that one looks closer
			isBeside = isBeside || name == beside
			continue
		case name != s.ref: // what is asked for fits the end of a name, too, and what is pushed goes there
			return "", false, fmt.Errorf("ask %s: %s is in the way of %s: delete or rename it", s.asks, name, s.ref)
		case !mirror.ValidOID(oid):
			return "", false, fmt.Errorf("ask %s: %q is no object id", s.asks, oid)
		}
		at = oid
	}
	return at, isBeside, nil
}

// commit makes a commit without files.
func (h Holds) commit(ctx context.Context, message string, at time.Time) (string, error) {
	tree := h.mirror.Call("hash-object", "-w", "-t", "tree", "--stdin")
	tree.Stdin = []byte{}
	empty, err := tree.Text(ctx)
	if err != nil {
		return "", err
	}
	c := h.mirror.Call("commit-tree", "-m", message, strings.TrimSpace(empty))
	date := at.UTC().Format(time.RFC3339)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.Env = append(c.Env, "GIT_"+who+"_NAME=gh mergexo", "GIT_"+who+"_EMAIL=gh-mergexo@users.noreply.github.com", "GIT_"+who+"_DATE="+date)
	}
	oid, err := c.Text(ctx)
	return strings.TrimSpace(oid), err
}
