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

// wireTarget is a commit with its statuses, without check runs.
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
	Says       string `json:"description"`
	Required   bool   `json:"isRequired"`

	CompletedAt time.Time `json:"completedAt"`
	CreatedAt   time.Time `json:"createdAt"`
}

// outcome returns the check's name and its conclusion; "" until it ends.
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

// check converts the check; end is its conclusion.
func (w wireBoxCheck) check(state func(end string) merging.CheckState) (c merging.Check, end string) {
	name, end := w.outcome()
	c = merging.Check{Name: name, State: state(end), Required: w.Required, Lapsed: end == "CANCELLED" || end == "STALE", Unstarted: end == work.NeverStarted}
	switch {
	case end == "", c.State == merging.Green:
	case w.Kind == "CheckRun":
		c.Ended = w.CompletedAt
	default:
		c.Ended = w.CreatedAt
	}
	return c, end
}

// expectedStatus is the state of a required status that nobody has set.
const expectedStatus = "EXPECTED"

// boxState maps a conclusion as GitHub does for merges: anything not green blocks. A check that
// waits for a person, or never started, may still turn green.
func boxState(end string) merging.CheckState {
	switch end {
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return merging.Green
	case "", "ACTION_REQUIRED", work.NeverStarted:
		return merging.Runs
	}
	return merging.Red
}

// failedState maps a conclusion to its meaning for the commit itself. A cancelled check, as is
// common when the next push follows soon, means nothing; nor does one that never started.
func failedState(end string) merging.CheckState {
	switch end {
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return merging.Green
	case "FAILURE", "ERROR", "TIMED_OUT":
		return merging.Red
	}
	return merging.Runs
}

// mergeChecks keeps one check per name, the worst. Checks that are only expected are not included;
// missing has their names.
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
		case more == 0: // the check has ended once all runs of that name have, and is lapsed only if all are
			same.Lapsed, same.Unstarted = same.Lapsed && one.Lapsed, same.Unstarted && one.Unstarted
			if one.Ended.IsZero() || !same.Ended.IsZero() && one.Ended.After(same.Ended) {
				same.Ended = one.Ended
			}
		}
		same.Required = required
		checks[i] = same
	}
	return checks, missing
}

// wireCommitChecks is a commit with the first page of its checks.
type wireCommitChecks struct {
	Repository struct {
		Object struct {
			OID    string `json:"oid"`
			Status struct {
				Contexts []wireCheck `json:"contexts"`
			} `json:"status"`
			Rollup *wireRollup `json:"statusCheckRollup"`
		} `json:"object"`
	} `json:"repository"`
}

// CommitChecks reads the checks of a commit, with or without a pull request. Only failed ones are
// red; a cancelled one counts as running. known is false if the token may not see the checks or
// GitHub does not show the commit.
func (c *Client) CommitChecks(ctx context.Context, repo work.RepoName, commit string) (checks []merging.Check, known bool, err error) {
	checks, known, err = c.commitChecks(ctx, repo, commit)
	if err != nil {
		return nil, false, fmt.Errorf("read the checks of %s: %w", commit, err)
	}
	return checks, known, nil
}

func (c *Client) commitChecks(ctx context.Context, repo work.RepoName, commit string) ([]merging.Check, bool, error) {
	all, known, err := c.checksOf(ctx, repo, commit)
	if err != nil {
		return nil, false, err
	}
	boxed := make([]wireBoxCheck, len(all))
	for i, w := range all {
		boxed[i] = wireBoxCheck{
			Kind: w.Kind, Name: w.Name, Status: w.Status, Conclusion: w.Conclusion, Context: w.Context, State: w.State,
			CompletedAt: w.CompletedAt, CreatedAt: w.CreatedAt,
		}
	}
	checks, _ := mergeChecks(boxed, failedState)
	return checks, known, nil
}

// FailedChecks reads the failed checks of a commit, with or without a pull request.
func (c *Client) FailedChecks(ctx context.Context, repo work.RepoName, commit string) ([]Check, error) {
	all, _, err := c.checksOf(ctx, repo, commit)
	if err != nil {
		return nil, fmt.Errorf("read the failed checks of %s: %w", commit, err)
	}
	checks := make([]Check, len(all))
	for i, w := range all {
		checks[i] = w.check()
	}
	return Failed(checks), nil
}

func (c *Client) checksOf(ctx context.Context, repo work.RepoName, commit string) (all []wireCheck, known bool, err error) {
	g, err := transport.GraphQL[wireCommitChecks](ctx, c.api, transport.Reads, commitQuery(), map[string]any{"owner": repo.Owner, "name": repo.Name, "oid": commit})
	if err != nil {
		return nil, false, err
	}
	hidden, err := hiddenChecks(g.GraphErrors)
	if err != nil {
		return nil, false, err
	}
	at := g.Data.Repository.Object
	all = at.Status.Contexts
	if at.Rollup != nil {
		if err := transport.More(ctx, c.api, checksQuery(), at.Rollup.ID, &at.Rollup.Contexts, func(n wireNode) transport.Connection[wireCheck] { return n.Contexts }); err != nil {
			return nil, false, err
		}
		all = at.Rollup.Contexts.Nodes
	}
	return all, at.OID == commit && !hidden, nil
}
