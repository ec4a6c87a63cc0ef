package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Limits of the questions to GitHub: the time of one request, the time for one host or repository,
// and how many repositories are asked about in parallel.
const (
	requestTime = 10 * time.Second
	askTime     = 30 * time.Second
	atOnce      = 4
)

// ask asks GitHub about hosts and repositories.
func ask(ctx context.Context, a *cli.App, cfg *config.Config, f *doctor.Facts) {
	clients := map[string]*github.Client{}
	var each sync.WaitGroup
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if !h.LoggedIn {
			continue
		}
		token, err := "", error(nil)
		if m, unsafe := a.Machine(cfg); unsafe == nil { // else a check of its own says so
			token, err = m.Token(ctx, h.Name)
		}
		var c *github.Client
		if err == nil {
			c, err = a.GitHub(transport.Options{Host: h.Name, Token: token, Timeout: requestTime, ReadOnly: true})
		}
		if err != nil {
			h.Asked, h.Down = true, &doctor.Trouble{Says: err.Error()}
			continue
		}
		clients[h.Name] = c
		each.Go(func() { askHost(ctx, c, h) })
	}
	each.Wait()
	turns := make(chan struct{}, atOnce)
	private := make([]bool, len(f.Repos))
	for i := range f.Repos {
		r, settings := &f.Repos[i], cfg.Repos[i]
		h := f.Hosts[slices.IndexFunc(f.Hosts, func(h doctor.Host) bool { return h.Name == r.Host })]
		if r.Unasked = whyUnchecked(h); r.Unasked != "" {
			continue
		}
		r.Gates.Speaker = h.Account
		each.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			first := i == slices.IndexFunc(f.Repos, func(o doctor.Repo) bool { return o.Host == r.Host })
			private[i] = askRepo(ctx, clients[r.Host], settings, r, first)
			if r.Current != "" {
				askGit(ctx, a, cfg, settings, r)
			}
		})
	}
	each.Wait()
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if c := clients[h.Name]; c != nil {
			if ahead, known := c.Ahead(); known {
				h.Ahead = &ahead
			}
		}
		for j, r := range f.Repos {
			h.Needs.Private = h.Needs.Private || private[j] && r.Host == h.Name
		}
	}
}

// whyUnchecked returns why the repositories of a host cannot be checked, or "".
func whyUnchecked(h doctor.Host) string {
	switch {
	case !h.LoggedIn:
		return "gh is not logged in to " + h.Name
	case h.Down != nil:
		return h.Name + " did not answer"
	case h.Refused != nil:
		return h.Name + " does not accept the login"
	case h.Limited != "":
		return "GitHub takes no requests for now"
	}
	return ""
}

func askHost(ctx context.Context, c *github.Client, h *doctor.Host) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	h.Asked = true
	who, token, err := c.Login(ctx)
	if err == nil {
		if len(h.Ours) > 0 && who.ID != 0 && !slices.Contains(h.Ours, who.ID) {
			why := explain.Reason(env.AccountChanged(who, nil), explain.Place{})
			h.Foreign = &doctor.Trouble{Says: why.What, Do: why.Next()}
		}
		h.Account, h.Token.Scoped, h.Token.Scopes, h.Token.Expires = who.Login, token.Scoped, token.Scopes, token.Expires
		h.Token.Kind = kind(h)
		return
	}
	if wait, limited := errors.AsType[*work.WaitError](err); limited {
		h.Limited = fmt.Sprintf("GitHub takes no requests until %s (%s)", wait.Until.UTC().Format(time.RFC3339), wait.Reason.Text)
		return
	}
	all := github.Troubles(h.Name, err)
	if len(all) > 0 && (all[0].Code == github.TroubleLogin || all[0].Code == github.TroubleForbidden) {
		h.Refused = trouble(h.Name, err)
	} else {
		h.Down = trouble(h.Name, err)
	}
}

// kind returns the kind of a token. If the prefix does not tell, it depends on what GitHub
// answered: an account, scopes.
func kind(h *doctor.Host) doctor.TokenKind {
	switch {
	case h.Token.Kind != doctor.TokenUnknown:
		return h.Token.Kind
	case h.Account == "":
		return doctor.TokenApp
	case h.Token.Scoped:
		return doctor.TokenClassic
	}
	return doctor.TokenUnknown
}

// askRepo asks about a repository and reports whether it is private. Results of one question are
// kept even if the next fails. queries has it send each query of a pass.
func askRepo(ctx context.Context, c *github.Client, settings config.Repo, to *doctor.Repo, queries bool) (private bool) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	r, err := c.Repository(ctx, settings.Name)
	if err != nil {
		to.Trouble = trouble(settings.Name.Host, err)
		return false
	}
	Describe(r, to)
	unanswered := func(err error) {
		if err != nil {
			to.Unanswered = append(to.Unanswered, strings.Join(strings.Fields(err.Error()), " "))
		}
	}
	if queries {
		for _, err := range c.TryQueries(ctx, r.Current, r.NodeID) {
			unanswered(err)
		}
	}
	kept, err := c.Unreadable(ctx, r.Current, r.DefaultBranch)
	unanswered(err)
	for _, k := range kept {
		to.Unreadable = append(to.Unreadable, doctor.Unread(k))
	}
	if labels, err := c.RepoLabels(ctx, r.Current); err != nil {
		unanswered(err)
	} else {
		missing, wanted := MissingLabels(settings, labels)
		to.Labels = &doctor.Labels{Wanted: wanted, Missing: terminal.Each(missing, func(l work.Label) string { return l.Name })}
	}
	if rules, err := c.Rules(ctx, r.Current, r.DefaultBranch); err != nil {
		unanswered(err)
	} else {
		to.Rules = &rules
	}
	to.WorkRules = hinderingRules(ctx, c, r.Current)
	return r.Private
}

// askGit asks the remote of a repository that GitHub knows.
func askGit(ctx context.Context, a *cli.App, cfg *config.Config, settings config.Repo, to *doctor.Repo) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	current, err := work.ParseRepoName(to.Current, settings.Name.Host)
	if err != nil {
		return
	}
	to.AsksGit = true
	to.Git = machine.TryRemote(ctx, cfg, a.Environ(), settings, work.Repo{Name: settings.Name, Current: current})
}

// Describe adds what GitHub says about a repository to its facts.
func Describe(r github.Repository, to *doctor.Repo) {
	to.Current, to.DefaultBranch, to.Archived, to.Disabled, to.NoIssues = r.Current.FullName(), r.DefaultBranch, r.Archived, r.Disabled, !r.HasIssues
	to.CanPush, to.Methods, to.WebSignOff = r.CanPush, r.Methods, r.WebSignOff
}

func trouble(host string, err error) *doctor.Trouble {
	if all := github.Troubles(host, err); len(all) > 0 {
		return &doctor.Trouble{Says: all[0].Cause, Do: all[0].Next}
	}
	return &doctor.Trouble{Says: err.Error()}
}

// MissingLabels returns the labels that people set and that a repository lacks, and how many it
// should have.
func MissingLabels(settings config.Repo, present []string) (missing []work.Label, wanted int) {
	all := work.RepoLabels(settings.Labels)
	if settings.Review.Enabled {
		all = append(all, work.ReviewLabels(settings.Labels)...)
	}
	wanted = len(all)
	return slices.DeleteFunc(all, func(l work.Label) bool { return work.HasLabel(present, l.Name) }), wanted
}

// harmless are the kinds of rules that do not hinder our branches. We create, push to and delete
// branches, and never rewrite their history.
var harmless = []string{"non_fast_forward", "required_linear_history", "copilot_code_review", "deletion"}

// hinderingRules returns the kinds of rules that would hinder a branch named like ours.
func hinderingRules(ctx context.Context, c *github.Client, repo work.RepoName) []string {
	kinds, told, err := c.RuleKinds(ctx, repo, work.BranchPrefix(work.FlowBugfix, 1)+"an-issue")
	if err != nil || !told {
		return nil
	}
	return slices.DeleteFunc(kinds, func(kind string) bool { return slices.Contains(harmless, kind) })
}
