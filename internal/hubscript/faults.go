package hubscript

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// The faults take matchers: --method GET|POST|…|WRITE, --path P (* stands for anything), --contains
// S (in the body), --request N (by number since the last reset), --nth N (the n-th match), --always
// (from then on). Without --method, --path and --request they strike the next write; slow, html,
// secondary and redirect strike the next request. Where a repository is named, or the story is in one, only requests strike
// that are below its path or name something of it.
//
//	hub lose [--before]                the answer is lost after the request took effect (or before it)
//	hub fail STATUS [BODY] [--applied] answered with a status, without effect or after it
//	hub slow DURATION                  answered late: for what is about a limit of time, never for an order of events
//	hub hold METHOD PATH               stopped before it takes effect, until released
//	hub await-held                     waits until every request to be held is there
//	hub release [--lost]               lets it take effect, even when its client is gone, and waits for that; or cuts it off
//	hub before METHOD PATH [--nth N] -- DEED…   another command of hub is done right before the request takes effect
//	hub html                           200 with a page
//	hub secondary DURATION             secondary rate limit with Retry-After
//	hub endless                        a list that always names a next page
//	hub redirect URL                   301
//	hub lag KIND [--count N] [--reads N] [--for D]   issues, pulls, comments, review-comments, reviews, timeline, mergeable
//	hub limit USER core|graphql|search REMAINING
var faultDeeds = map[string]subcommand{
	"lose":             {0, lose},
	"fail":             {1, fail},
	"slow":             {1, slow},
	"hold":             {2, hold},
	"await-held":       {0, awaitHeld},
	"release":          {0, release},
	"html":             {0, func(c *command) error { return c.order(githubsim.HTML(), "") }},
	"secondary":        {1, secondary},
	"endless":          {0, func(c *command) error { return c.order(githubsim.Endless(), "") }},
	"redirect":         {1, func(c *command) error { return c.order(githubsim.Redirect(c.args[0]), "") }},
	"clear-faults":     {0, func(c *command) error { c.hub.ClearFaults(); return nil }},
	"pending-faults":   {0, func(c *command) error { c.print(fmt.Sprintf("%d\n", c.hub.PendingFaults())); return nil }},
	"lag":              {1, lag},
	"limit":            {3, limit},
	"max-comments":     {1, func(c *command) error { return c.set(c.hub.SetMaxComments) }},
	"no-dependencies":  {0, func(c *command) error { c.hub.WithoutDependencies(); return nil }},
	"no-sub-issues":    {0, func(c *command) error { c.hub.WithoutSubIssues(); return nil }},
	"max-page":         {1, func(c *command) error { return c.set(c.hub.SetMaxPage) }},
	"open-page":        {1, func(c *command) error { return c.set(c.hub.SetOpenPage) }},
	"bump-on-reaction": {0, func(c *command) error { c.hub.BumpOnReaction(true); return nil }},
}

// order adds a fault with the matchers of the flags; method is the one to strike when nothing else
// chooses.
func (c *command) order(f githubsim.Fault, method string) error {
	f.Method, f.Path, f.Always = c.flag("method", ""), c.flag("path", ""), c.has("always")
	if err := c.choices(&f); err != nil {
		return err
	}
	if f.Method == "" && f.Path == "" && f.Request == 0 {
		f.Method = method
	}
	c.hub.AddFault(f)
	return nil
}

// choices are the matchers beside method and path.
func (c *command) choices(f *githubsim.Fault) (err error) {
	if c.named() {
		f.Repo = c.repo
	}
	f.Contains = c.flag("contains", "")
	if f.Request, err = c.count("request", 0); err != nil {
		return err
	}
	f.Nth, err = c.count("nth", 0)
	return err
}

// patience is how long a request that is to come is waited for: it only ends stories that are
// wrong.
const patience = 3 * time.Minute

func hold(c *command) error {
	f := githubsim.Fault{Method: c.args[0], Path: c.args[1]}
	if err := c.choices(&f); err != nil {
		return err
	}
	c.hub.Hold(f)
	return nil
}

func awaitHeld(c *command) error { return c.hub.AwaitHeld(patience) }

func release(c *command) error {
	if c.has("lost") {
		return c.hub.LoseHeld()
	}
	return c.hub.ReleaseHeld()
}

// before has a deed done between a look of the program's and what it sends. Flags of the deed come
// behind "--".
func before(c *command) error {
	f := githubsim.Fault{Method: c.args[0], Path: c.args[1], Always: c.has("always")}
	if err := c.choices(&f); err != nil {
		return err
	}
	deed := c.args[2:]
	if _, ok := subcommands()[deed[0]]; !ok {
		return fmt.Errorf("there is no %q", deed[0])
	}
	f.Do = func() error { return c.again(deed) }
	c.hub.AddFault(f)
	return nil
}

func lose(c *command) error {
	if c.has("before") {
		return c.order(githubsim.LoseRequest(), "WRITE")
	}
	return c.order(githubsim.LoseAnswer(), "WRITE")
}

func fail(c *command) error {
	status, err := strconv.Atoi(c.args[0])
	if err != nil || http.StatusText(status) == "" {
		return fmt.Errorf("%q is no status", c.args[0])
	}
	return c.order(githubsim.Fault{Status: status, Body: c.rest(1), Applied: c.has("applied")}, "WRITE")
}

func (c *command) duration(i int) (time.Duration, error) {
	d, err := time.ParseDuration(c.args[i])
	if err != nil {
		return 0, fmt.Errorf("%q is no duration", c.args[i])
	}
	return d, nil
}

func slow(c *command) error {
	d, err := c.duration(0)
	if err != nil {
		return err
	}
	return c.order(githubsim.Fault{Delay: d}, "")
}

func secondary(c *command) error {
	d, err := c.duration(0)
	if err != nil {
		return err
	}
	return c.order(githubsim.Secondary(d), "")
}

func lag(c *command) error {
	count, err := c.count("count", 1)
	if err != nil {
		return err
	}
	reads, err := c.count("reads", 0)
	if err != nil {
		return err
	}
	wait, err := time.ParseDuration(c.flag("for", "0s"))
	if err != nil {
		return fmt.Errorf("--for: %w", err)
	}
	if c.args[0] == "mergeable" {
		c.hub.LagMergeable(reads)
		return nil
	}
	c.hub.Lag(c.args[0], count, reads, wait)
	return nil
}

func limit(c *command) error {
	n, err := strconv.Atoi(c.args[2])
	if err != nil {
		return fmt.Errorf("%q is no number", c.args[2])
	}
	return c.hub.SetRemaining(c.args[0], c.args[1], n)
}

func (c *command) set(knob func(int)) error {
	n, err := c.number()
	if err == nil {
		knob(n)
	}
	return err
}
