package git

import (
	"context"
	"fmt"
	"strings"
)

// MergeBase is where head left a branch of the remote, as last fetched; false
// when they have no history in common, or the branch is not known.
func (m *Mirror) MergeBase(ctx context.Context, branch, head string) (string, bool, error) {
	tip, ok, err := m.Head(ctx, branch)
	if err != nil || !ok {
		return "", false, err
	}
	c := m.call("merge-base", tip, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("look for where %s left %s: %w", head, branch, err)
	}
	return strings.TrimSpace(string(res.Stdout)), res.Code == 0, nil
}
