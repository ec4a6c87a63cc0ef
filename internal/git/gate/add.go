package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Candidates lists what differs from the index, by stamps, and what is new.
func Candidates(ctx context.Context, m *mirror.Mirror, dir, index string) ([]string, error) {
	res, err := runPatterns(ctx, m.CheckoutCall(dir, index, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate"), patternTimeout(m))
	if err != nil {
		return nil, err
	}
	return plumbing.Fields(res.Stdout), nil
}

// runPatterns runs a command that compares paths with the patterns of the
// checkout's .gitignore or .gitattributes. Git can be given some that take
// hours: what does not end in time is the change's fault, and is told.
func runPatterns(ctx context.Context, c plumbing.Call, limit time.Duration) (proc.Result, error) {
	c.Wall = limit
	res, err := c.Run(ctx)
	if late, ok := errors.AsType[*plumbing.TimeoutError](err); ok {
		return res, &RefusedError{Reason: fmt.Sprintf("%s: the patterns in .gitignore or .gitattributes may take git for ever", late)}
	}
	return res, err
}

func patternTimeout(m *mirror.Mirror) time.Duration { return m.Git().Options().PatternTimeout }

// addTimes is how much longer than to read a checkout's patterns it may take to add
// files: their contents are read, too.
const addTimes = 4

// Add runs a command that adds files of the checkout to an index, their contents to
// the quarantine. What git itself refuses is a *RefusedError.
func Add(ctx context.Context, q *mirror.Quarantine, add plumbing.Call) error {
	add.Objects = q.Env
	_, err := runPatterns(ctx, add, addTimes*patternTimeout(q.Mirror()))
	return refusedToAdd(err)
}

// addSigns are what git says of files that it never adds, whatever their content.
var addSigns = []string{"invalid path", "file name too long", "filename too long"}

// refusedToAdd makes a refusal of git's own: to try again would not help.
func refusedToAdd(err error) error {
	var failed *plumbing.CommandError
	if errors.As(err, &failed) && failed.Says(addSigns) {
		return &RefusedError{Reason: "git does not add it: " + failed.LastLines(3)}
	}
	return err
}
