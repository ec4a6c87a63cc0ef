package setup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// complete finds out, or asks, what to write into the config for the repository. A repository that
// the config already names is not changed.
func (r *room) complete(ctx context.Context, d *draft, p *place) error {
	program, isPreset := r.preset(d.cfg)
	if r.agent != "" && !isPreset {
		if err := knownAgent(d.cfg, r.agent); err != nil {
			return err
		}
	}
	if err := r.knowReviewers(); err != nil {
		return err
	}
	if _, known := d.cfg.Repo(p.name); known {
		r.say("%s already has %s, and does not change.", d.path, p.name)
		if r.agent != "" || len(r.users)+len(r.reviewers) > 0 {
			r.say("--agent, --allow-user and --reviewer are for new repositories; edit the config; gh mergexo config --example prints every key")
			if isPreset {
				r.say("to print the table of %s: gh mergexo config agents %s", program.Name, program.Name)
			}
		}
		return nil
	}
	repo := DraftRepo{Name: called(p.name)}
	if isPreset {
		if !program.Installed { // the remedy of an agent of the config names its table
			return fmt.Errorf("agent %q: its program %q was not found: run `%s`, then this again; or print its table with `gh mergexo config agents %s`, and write it into the config with the program's absolute path",
				program.Name, program.Command[0], program.Install(), program.Name)
		}
		d.cfg.Agents[program.Name] = program.Agent()
		repo.Table = program.Table()
	}
	agent, err := r.chooseAgent(ctx, d.cfg)
	if err != nil {
		return err
	}
	if d.used = agent; d.text != "" && agent != d.cfg.Runtime.Agent {
		repo.Agent = agent
	}
	if repo.AllowedUsers, err = r.choosePeople(ctx, p); err != nil {
		return err
	}
	if err := r.chooseReviewers(&repo); err != nil {
		return err
	}
	d.repo = repo
	return nil
}

// preset returns the preset that --agent names, unless the config has an agent of that name.
func (r *room) preset(cfg *config.Config) (machine.Preset, bool) {
	if _, known := cfg.Agents[r.agent]; !known {
		for _, p := range machine.Presets(r.Environ()) {
			if p.Name == r.agent {
				return p, true
			}
		}
	}
	return machine.Preset{}, false
}

// alsoInstalled names the presets whose programs are on PATH; "" if there are none.
func (r *room) alsoInstalled() string {
	var all []string
	for _, p := range machine.Presets(r.Environ()) {
		if p.Installed {
			all = append(all, p.Name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("installed, too: %s; to use one: gh mergexo init --agent NAME", strings.Join(all, ", "))
}

// chooseAgent returns the named agent, the config's, the only installed one, or a person's choice.
func (r *room) chooseAgent(ctx context.Context, cfg *config.Config) (string, error) {
	all := machine.New(machine.Options{Config: cfg, Env: r.Environ()}).Agents(ctx, slices.Sorted(maps.Keys(cfg.Agents))...)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	var there []string
	for _, a := range all {
		if a.Missing == nil {
			there = append(there, a.Name)
		}
	}
	chosen := r.agent
	switch {
	case chosen != "":
	case cfg.Runtime.Agent != "":
		chosen = cfg.Runtime.Agent
	case len(there) == 1:
		chosen = there[0]
	case len(there) == 0:
		missing := terminal.Each(all, func(a machine.Agent) string { return startable(a).Error() })
		if also := r.alsoInstalled(); also != "" {
			missing = append(missing, also)
		}
		return "", fmt.Errorf("no agent is installed; install one of these, or one that `gh mergexo config agents` lists:\n%s", strings.Join(missing, "\n"))
	case r.ask == nil:
		return "", flagNeeded("%s are installed: choose one with --agent", strings.Join(there, " and "))
	default:
		i, err := r.ask.Select("Which agent does the work?", "", terminal.Each(all, agentLine))
		if err != nil {
			return "", err
		}
		chosen = all[i].Name
	}
	for _, a := range all {
		if a.Name == chosen {
			return chosen, r.tellAgent(a)
		}
	}
	return chosen, nil
}

// startable returns an error for an agent that is not installed.
func startable(a machine.Agent) error {
	if a.Missing == nil {
		return nil
	}
	return a.Missing
}

// tellAgent prints the agent's protection, and what is to be said about its version.
func (r *room) tellAgent(a machine.Agent) error {
	if err := startable(a); err != nil {
		return err
	}
	r.say("agent: %s", agentLine(a))
	if a.Tells != "" {
		r.say("  usage that it reports: %s; %s", a.Tells, a.Login.Says)
	}
	if also := r.alsoInstalled(); also != "" && r.agent == "" {
		r.say("  %s", also)
	}
	if a.Drift != "" {
		r.say("  %s", a.Drift)
	}
	return nil
}

func agentLine(a machine.Agent) string {
	if a.Missing != nil {
		return a.Name + ", which is not installed"
	}
	line := a.Name
	if a.Version != "" {
		line += " " + a.Version
	}
	return line + "; " + a.Says
}

func knownAgent(cfg *config.Config, name string) error {
	if _, known := cfg.Agents[name]; known {
		return nil
	}
	all := slices.Sorted(maps.Keys(cfg.Agents))
	err := fmt.Errorf("unknown agent %q: known are %s and those of gh mergexo config agents; to add another one, write a table [agents.%s] into the config first", name, strings.Join(all, ", "), name)
	return &cli.UsageError{Err: cli.DidYouMean(err, name, all, "")}
}

// choosePeople returns who may give commands in addition to those with write permission.
func (r *room) choosePeople(ctx context.Context, p *place) ([]string, error) {
	typed := r.users
	if len(typed) == 0 && r.ask != nil {
		line, err := r.ask.Input("Whose comments count beside those of people with write permission to "+p.name.FullName()+"? (logins, or Enter)", "")
		if err != nil {
			return nil, err
		}
		typed = strings.FieldsFunc(line, func(c rune) bool { return c == ',' || c == ' ' })
	}
	var all []string
	for _, login := range typed {
		if login = strings.TrimPrefix(strings.TrimSpace(login), "@"); login == "" || slices.Contains(all, login) {
			continue
		}
		if why := config.LoginProblem(login); why != "" {
			return nil, flagNeeded("--allow-user: %s", why)
		}
		name, _, _ := strings.Cut(login, ":")
		if known, _ := p.client.KnowsLogin(ctx, p.name, name); !known { // an error tells nothing about it
			return nil, flagNeeded("--allow-user: %s has no account %q: check the spelling, or leave it out", p.name.Host, name)
		}
		all = append(all, login)
	}
	return all, nil
}

const noReviewer = "none"

// knowReviewers refuses a reviewer that is not built in, also where the config has the repository already.
func (r *room) knowReviewers() error {
	builtIn := terminal.Each(config.BuiltInReviewers(), func(x config.Reviewer) string { return x.Name })
	for _, name := range r.reviewers {
		if name != noReviewer && !slices.Contains(builtIn, name) {
			return flagNeeded("unknown reviewer %q: built in are %s; others get a table [[repo.reviewers]] in the config: docs/review.md", name, strings.Join(builtIn, ", "))
		}
	}
	return nil
}

// chooseReviewers sets the reviewers: a config without a table of reviewers has quinn.
func (r *room) chooseReviewers(repo *DraftRepo) error {
	builtIn := terminal.Each(config.BuiltInReviewers(), func(x config.Reviewer) string { return x.Name })
	chosen, usual := r.reviewers, builtIn[:1]
	if len(chosen) == 0 && r.ask != nil {
		places, err := r.ask.MultiSelect("Who reviews the pull requests before people do? (select nobody for no reviews)", usual, builtIn)
		if err != nil {
			return err
		}
		chosen = terminal.Each(places, func(i int) string { return builtIn[i] })
		repo.Unreviewed = len(chosen) == 0
	}
	if slices.Contains(chosen, noReviewer) {
		if len(chosen) > 1 {
			return flagNeeded("--reviewer none excludes other reviewers")
		}
		repo.Unreviewed = true
		return nil
	}
	if !slices.Equal(chosen, usual) {
		repo.Reviewers = chosen
	}
	return nil
}
