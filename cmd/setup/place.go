package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// repository returns the one to set up.
func (r *room) repository(ctx context.Context, d *draft) (work.RepoName, error) {
	env := r.Environ()
	named := r.repo
	if named == "" {
		named, _ = env.Lookup("GH_REPO")
	}
	if named != "" {
		return parseName(named)
	}
	found := remoteRepositories(ctx, env)
	if loggedIn := slices.DeleteFunc(slices.Clone(found), func(n work.RepoName) bool { return github.Token(n.Host) == "" }); len(loggedIn) > 0 {
		found = loggedIn
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && r.ask != nil:
		i, err := r.ask.Select("Which repository?", "", terminal.Each(found, work.RepoName.String))
		if err != nil {
			return work.RepoName{}, err
		}
		return found[i], nil
	case len(found) > 1:
		return work.RepoName{}, flagNeeded("the remotes of this folder are %s: choose one with --repo", cli.Names(found))
	case r.ask != nil:
		typed, err := r.ask.Input("Which repository? (owner/name)", d.only())
		if err != nil {
			return work.RepoName{}, err
		}
		return parseName(typed)
	}
	return work.RepoName{}, flagNeeded("no remote of this folder is a repository on GitHub: choose one with --repo owner/name")
}

// parseName parses a name or URL that a person typed.
func parseName(typed string) (work.RepoName, error) {
	typed = strings.TrimSpace(typed)
	if repo, ok := repoOf(typed); ok {
		return repo, nil
	}
	repo, err := work.ParseRepoName(strings.TrimSuffix(typed, ".git"), github.DefaultHost())
	if err != nil && strings.Contains(typed, "@") { // a password may precede it; do not repeat it
		err = errors.New("not a repository: want owner/name or host/owner/name")
	}
	if err != nil {
		err = &cli.UsageError{Err: err}
	}
	return repo, err
}

// place is a repository on GitHub, and the account that asks.
type place struct {
	client  *github.Client
	name    work.RepoName // as GitHub spells it
	account string        // empty: a GitHub App
	branch  string
	rules   merging.Rules // of that branch; none if GitHub does not tell
	labels  []string
}

// lookUp checks that gh mergexo can work in the repository.
func (r *room) lookUp(ctx context.Context, cfg *config.Config, name work.RepoName) (*place, error) {
	m := machine.New(machine.Options{Config: cfg, Env: r.Environ(), Secrets: r.Secrets(), Now: r.Now})
	token, err := m.Token(ctx, name.Host)
	if err != nil {
		return nil, err
	}
	c, err := r.GitHub(transport.Options{Host: name.Host, Token: token})
	if err != nil {
		return nil, err
	}
	p := &place{client: c}
	who, _, err := c.Login(ctx)
	if err != nil {
		return nil, withRemedy(name.Host, err)
	}
	p.account = who.Login
	var before map[string][]work.Account
	_, err = machine.View(ctx, cfg, func(tx *store.Tx) (err error) {
		before, err = tx.ListAccounts(ctx, work.RoleOperator)
		return err
	})
	if why := env.Refused(name.Host, cfg.AccountOn(name.Host), m.TokenVariable(name.Host), who, before[name.Host]); err == nil && why != nil && who.ID != 0 { // doctor tells of the database
		said := explain.Reason(*why, explain.Place{})
		return nil, fmt.Errorf("%s; %s", said.What, said.Next())
	}
	found, err := c.Repository(ctx, name)
	if refused, ok := errors.AsType[*transport.Error](err); ok && refused.Status == http.StatusNotFound {
		return nil, &cli.CodedError{
			Code: cli.CodeUnknownRepository,
			Err:  fmt.Errorf("there is no repository %s, or %s may not see it: check the name, or log in as somebody who may: %s", name, p.speaker(), github.LogIn(name.Host, "the token of such an account")),
		}
	}
	if err != nil {
		return nil, withRemedy(name.Host, err)
	}
	p.name, p.branch = found.Current, found.DefaultBranch
	if err := doctor.Unwritable(found); err != nil {
		return nil, err
	}
	if p.labels, err = c.RepoLabels(ctx, p.name); err != nil {
		return nil, withRemedy(name.Host, err)
	}
	if rules, err := c.Rules(ctx, p.name, p.branch); err == nil { // otherwise doctor reports it
		p.rules = rules
	}
	return p, nil
}

// speaker names the account that asks.
func (p *place) speaker() string {
	if p.account == "" {
		return "this app"
	}
	return p.account
}

// withRemedy adds the remedy to an error of GitHub.
func withRemedy(host string, err error) error {
	all := github.Troubles(host, err)
	if len(all) == 0 || all[0].Next == "" {
		return err
	}
	err = fmt.Errorf("%w; %s", err, all[0].Next)
	if all[0].Code == github.TroubleLogin {
		return &cli.CodedError{Code: cli.CodeNoLogin, Err: err}
	}
	return err
}

// tellAccount prints under which account gh mergexo will act, and that this account cannot approve.
func (r *room) tellAccount(p *place) {
	r.say("%s: gh mergexo will push and comment there as %s.", p.name, p.speaker())
	if p.rules.Approvals == 0 && !p.rules.LastPush {
		return
	}
	r.say("%s of %s requires approvals, and GitHub does not count an approval by the account that opened the pull request", p.branch, p.name.FullName())
	r.say("or pushed to it, here %[1]s. So that an approval by %[1]s counts, give gh mergexo an account of its own with write permission", p.speaker())
	r.say("(a machine user): %s. See docs/setup.md#accounts.", github.LogIn(p.name.Host, "its token"))
}
