package github

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// wireTarget is a commit with its statuses, which have no check runs among them.
type wireTarget struct {
	OID    string `json:"oid"`
	Status struct {
		Contexts []wireBoxCheck `json:"contexts"`
	} `json:"status"`
}

// wireBoxCheck is a CheckRun or a StatusContext.
type wireBoxCheck struct {
	Kind       string `json:"__typename"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	Context    string `json:"context"`
	State      string `json:"state"`
	Required   bool   `json:"isRequired"`

	CompletedAt time.Time `json:"completedAt"`
	CreatedAt   time.Time `json:"createdAt"`
}

// outcome is the check's name and what it has come to; empty until it has ended.
func (w wireBoxCheck) outcome() (name, end string) {
	if w.Kind == "CheckRun" {
		if w.Status != "COMPLETED" {
			return w.Name, ""
		}
		return w.Name, w.Conclusion
	}
	if w.State == "PENDING" {
		return w.Context, ""
	}
	return w.Context, w.State
}

// check is what it has come to.
func (w wireBoxCheck) check(state func(end string) merging.CheckState) (c merging.Check, end string) {
	name, end := w.outcome()
	c = merging.Check{Name: name, State: state(end), Required: w.Required, Lapsed: end == "CANCELLED" || end == "STALE"}
	switch {
	case end == "", c.State == merging.Green:
	case w.Kind == "CheckRun":
		c.Ended = w.CompletedAt
	default:
		c.Ended = w.CreatedAt
	}
	return c, end
}

// expectedStatus is the state of a status that a rule demands and that nobody has set.
const expectedStatus = "EXPECTED"

// boxState is what the end of a check means for a merge, as GitHub has it: whatever is
// not green holds. One that waits for a person may still become green.
func boxState(end string) merging.CheckState {
	switch end {
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return merging.Green
	case "", "ACTION_REQUIRED":
		return merging.Runs
	}
	return merging.Red
}

// failedState is what the end of a check says of the commit itself: one that was
// cancelled, as is usual where the next push comes soon, says nothing.
func failedState(end string) merging.CheckState {
	switch end {
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return merging.Green
	case "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE":
		return merging.Red
	}
	return merging.Runs
}

// mergeChecks makes one check of all that have a name: the worst counts. What is only
// expected is no check; its names come by themselves.
func mergeChecks(all []wireBoxCheck, state func(end string) merging.CheckState) (checks []merging.Check, missing []string) {
	worst := []merging.CheckState{merging.Green, merging.Runs, merging.Red}
	for _, w := range all {
		one, end := w.check(state)
		if end == expectedStatus {
			missing = append(missing, one.Name)
			continue
		}
		i := slices.IndexFunc(checks, func(c merging.Check) bool { return c.Name == one.Name })
		if i < 0 {
			checks = append(checks, one)
			continue
		}
		same, required := checks[i], checks[i].Required || one.Required
		switch more := slices.Index(worst, one.State) - slices.Index(worst, same.State); {
		case more > 0:
			same = one
		case more == 0: // it has ended once all have, and one that failed says something
			same.Lapsed = same.Lapsed && one.Lapsed
			if one.Ended.IsZero() || !same.Ended.IsZero() && one.Ended.After(same.Ended) {
				same.Ended = one.Ended
			}
		}
		same.Required = required
		checks[i] = same
	}
	return checks, missing
}

// wireContexts is a node with more of the checks of a commit.
type wireContexts struct {
	Contexts transport.Connection[wireBoxCheck] `json:"contexts"`
}

// wireCommitChecks is a commit with the first of its checks.
type wireCommitChecks struct {
	Repository struct {
		Object struct {
			wireTarget
			Rollup *wireBoxRollup `json:"statusCheckRollup"`
		} `json:"object"`
	} `json:"repository"`
}

// CommitChecks reads what the checks of a commit have come to, whether it belongs to a
// pull request or not. Red are those alone that failed: one that was cancelled has not
// ended. Known is false where the token may not see them, and for a commit that GitHub
// does not show.
func (c *Client) CommitChecks(ctx context.Context, repo work.RepoName, commit string) (checks []merging.Check, known bool, err error) {
	checks, known, err = c.commitChecks(ctx, repo, commit)
	if err != nil {
		return nil, false, fmt.Errorf("read the checks of %s: %w", commit, err)
	}
	return checks, known, nil
}

func (c *Client) commitChecks(ctx context.Context, repo work.RepoName, commit string) ([]merging.Check, bool, error) {
	g, err := transport.GraphQL[wireCommitChecks](ctx, c.api, transport.Reads, commitQuery(), map[string]any{"owner": repo.Owner, "name": repo.Name, "oid": commit})
	if err != nil {
		return nil, false, err
	}
	hidden, err := hiddenChecks(g.GraphErrors)
	if err != nil {
		return nil, false, err
	}
	at := g.Data.Repository.Object
	all := at.Status.Contexts
	if at.Rollup != nil {
		if err := transport.More(ctx, c.api, checksQuery(), at.Rollup.ID, &at.Rollup.Contexts, func(n wireContexts) transport.Connection[wireBoxCheck] { return n.Contexts }); err != nil {
			return nil, false, err
		}
		all = at.Rollup.Contexts.Nodes
	}
	checks, _ := mergeChecks(all, failedState)
	return checks, at.OID == commit && !hidden, nil
}
