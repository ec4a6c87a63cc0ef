package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func repositoryChecks() []check {
	return []check{
		{"repository", "whether it exists, is visible, has the name in the config, and is not archived or disabled; whether the account may push; other accounts under which gh mergexo works there", repos(repository, otherInstallations)},
		{"remote", "whether git reaches it, asked as a pass asks", repos(remote)},
		{"reads", "whether the token may read files, issues, pull requests, checks and statuses; whether GitHub answers the queries of passes, sent about the first repository of a host", repos(reads, queries)},
		{"labels", "whether the labels in the config exist", repos(labels)},
		{"rules", "what the default branch requires for a merge, and whether the config can meet it: approvers who may write, method, queue, sign-off; rules that block the branches that gh mergexo pushes", repos(rules, workBranches)},
		{"commands", "whether the programs of `required_tests` and `setup` are installed", repos(commands)},
	}
}

func repository(ctx context.Context, e *exam, r *repo) []Result {
	if r.host.login() != nil {
		why := account(ctx, e, r.host)
		for i := range why {
			why[i].Level, why[i].Says = Warning, "not checked: "+why[i].Says
		}
		return why
	}
	if err := r.read(); err != nil {
		return failure(r.host.trouble(err, "see whether gh can read it: gh repo view "+r.called))
	}
	if full := r.now.Current.FullName(); !strings.EqualFold(full, r.called) && !strings.EqualFold(r.host.name+"/"+full, r.called) {
		return append(warn("its name on GitHub is "+full+" now", fmt.Sprintf("write name = %q in its [[repo]]", typed(r.now.Current))), writable(r.now)...)
	}
	return append(ok("its default branch is "+r.now.DefaultBranch), writable(r.now)...)
}

// writable tells whether a repository can be written to.
func writable(now github.Repository) []Result {
	switch {
	case now.Archived:
		return fail("it is archived: nobody can write to it", fmt.Sprintf("gh repo unarchive %s, or leave it out of the config", typed(now.Current)))
	case now.Disabled:
		return fail("GitHub has disabled it", "leave it out of the config, or ask GitHub")
	case !now.CanPush:
		return fail("the account may not push to it", "ask for write permission, or log in as somebody who has it: "+github.LogIn(now.Current.Host, "the token of such an account"))
	}
	return ok("the account may push")
}

// Unwritable is what keeps gh mergexo from writing to a repository, as an error; nil: it can.
func Unwritable(now github.Repository) error {
	for _, f := range Only(writable(now), Failure) {
		f.About = now.Current.String()
		return errors.New(f.Line())
	}
	return nil
}

// typed returns a repository as a command or the config takes it: without its host, another one
// with the same name could be meant.
func typed(r work.RepoName) string {
	if r.Host == "github.com" && github.DefaultHost() == r.Host {
		return r.FullName()
	}
	return r.Host + "/" + r.FullName()
}

func otherInstallations(_ context.Context, e *exam, r *repo) (all []Result) {
	row := cli.FindRepo(e.stored.repos, r.settings.Name)
	for _, o := range e.stored.others {
		if row.ID != 0 && o.RepoID == row.ID {
			all = append(all, warn(fmt.Sprintf("another installation wrote as %s, last at %s: both answer the same comments", o.Login, o.At.UTC().Format(time.RFC3339)),
				"remove its [[repo]] from the config of one of them")...)
		}
	}
	return all
}

func remote(ctx context.Context, e *exam, r *repo) []Result {
	if r.read() != nil {
		return nil
	}
	if _, err := e.machine.Git(ctx); err != nil {
		return nil // git has a check of its own
	}
	url, err := e.machine.TryRemote(ctx, r.settings, work.Repo{Name: r.settings.Name, Current: r.now.Current})
	_, denied := errors.AsType[*git.AccessError](err)
	switch {
	case err == nil:
		return ok("git reaches it")
	case denied && strings.HasPrefix(url, "https://"):
		return fail("git does not reach it: "+err.Error(), "see that the login of gh may read it: gh auth status")
	}
	return fail("git does not reach it: "+err.Error(), "repeat until it works: git ls-remote "+url)
}

func reads(ctx context.Context, _ *exam, r *repo) (all []Result) {
	if r.read() != nil {
		return nil
	}
	if !r.now.HasIssues {
		all = fail("issues are switched off, and work starts from an issue", fmt.Sprintf("gh repo edit %s --enable-issues", typed(r.now.Current)))
	}
	kept, err := r.host.client.Unreadable(ctx, r.now.Current, r.now.DefaultBranch)
	for _, u := range kept {
		level := Warning
		if u.Needed {
			level = Failure
		}
		all = append(all, Result{
			Level: level, Says: fmt.Sprintf("the token may not read %s: %s", u.What, u.For),
			Do: "give it that permission; docs/setup.md#accounts lists what each kind of token needs",
		})
	}
	if err != nil {
		all = append(all, r.unanswered(err)...)
	}
	if len(all) == 0 {
		return ok("files, issues, pull requests, checks and statuses")
	}
	return all
}

// unanswered is about a read that GitHub does not answer. A pass that makes it fails.
func (r *repo) unanswered(err error) []Result {
	return fail(strings.Join(strings.Fields(err.Error()), " "),
		"see whether gh gets an answer: gh api --hostname "+r.host.name+" rate_limit; if the host refuses a query, update GitHub Enterprise Server or gh mergexo")
}

// queries sends each query of a pass.
func queries(ctx context.Context, _ *exam, r *repo) (all []Result) {
	if !r.queries || r.read() != nil {
		return nil
	}
	for _, err := range r.host.client.TryQueries(ctx, r.now.Current, r.now.NodeID) {
		all = append(all, r.unanswered(err)...)
	}
	if len(all) == 0 {
		return ok("GitHub answers each query of a pass")
	}
	return all
}

func labels(ctx context.Context, _ *exam, r *repo) []Result {
	if r.read() != nil {
		return nil
	}
	present, err := r.host.client.RepoLabels(ctx, r.now.Current)
	missing, wanted := MissingLabels(r.settings, present)
	switch {
	case err != nil:
		return r.unanswered(err)
	case len(missing) == 0:
		return ok(fmt.Sprintf("all %d exist", wanted))
	case r.now.Archived:
		return nil
	}
	return warn("missing: "+strings.Join(terminal.Each(missing, func(l work.Label) string { return l.Name }), ", "), "gh mergexo tick creates them")
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

func commands(_ context.Context, e *exam, r *repo) (all []Result) {
	for _, c := range e.missing() {
		says := fmt.Sprintf("agent %q does not find the program %q of %s", c.Agent, c.Program, c.Key)
		do := fmt.Sprintf("install it, or correct %s in [[repo]]", c.Key)
		switch {
		case c.Repo != r.called:
		case c.Needed:
			all = append(all, fail(says, do)...)
		default:
			all = append(all, warn(says+": turns run without what it would make", do)...)
		}
	}
	return all
}
