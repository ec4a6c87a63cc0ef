package turn

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Surroundings is what the config says of how an agent works on a kind of turn
// in a repository.
func Surroundings(cfg *config.Config, a config.Agent, r config.Repo, kind work.Kind) prompts.Surroundings {
	s := prompts.Surroundings{
		Adapter: a.Adapter, Shell: true, Network: network(a, kind),
		TurnSeconds: int(cfg.Runtime.TurnTimeout.Seconds()), IdleSeconds: int(cfg.Runtime.IdleTimeout.Seconds()),
	}
	if a.Adapter == config.AdapterClaude && kind.Mode() == work.ModeRead {
		s.Shell = false // its tools are those that read files
	}
	if kind != work.KindDesignStart && kind != work.KindReview {
		s.RequiredTests, s.TestSeconds = r.RequiredTests, int(r.TestTimeout.Seconds())
	}
	return s
}

// network is what the commands of an agent have of it. Our own sandboxes leave it
// open, codex's does not; how a program of the operator's is run is theirs.
func network(a config.Agent, kind work.Kind) prompts.Network {
	switch {
	case a.Adapter == config.AdapterCodex && opensNetwork(a.Args, kind.Mode()):
		return prompts.NetworkOpen
	case a.Adapter == config.AdapterCodex:
		return prompts.NetworkNone
	case a.Adapter == config.AdapterClaude && kind.Mode() == work.ModeWrite:
		return prompts.NetworkOpen
	case a.Adapter == config.AdapterClaude:
		return prompts.NetworkNone
	}
	return prompts.NetworkUnknown
}

// opensNetwork reports whether the operator's arguments open codex's sandbox for
// the network.
func opensNetwork(args []string, mode work.Mode) bool {
	for _, arg := range args {
		arg = strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(arg)
		if strings.HasSuffix(arg, "danger-full-access") || mode == work.ModeWrite && strings.Contains(arg, "network_access=true") {
			return true
		}
	}
	return false
}

// Surroundings is how the agent works on the lease's turn.
func (p *briefs) Surroundings(l *env.Lease) prompts.Surroundings {
	s := Surroundings(p.Config, p.AgentOf(l), l.Repo.Settings, l.Turn.Kind)
	if l.Approves() { // its turn only reads
		s.Shell, s.RequiredTests = s.Adapter != config.AdapterClaude, nil
	}
	return s
}

// AgentOf is the agent of a turn: the one that was hired for it, else the one
// that the config names.
func (p *briefs) AgentOf(l *env.Lease) config.Agent {
	if a, ok := p.Config.Agents[l.Turn.Agent]; ok {
		return a
	}
	a, _ := p.Config.AgentFor(l.Repo.Name, l.Turn.Kind, l.Turn.Reviewer)
	return a
}

// surround fills in how the agent works on the turn, and how contributors are
// to work on the repository. A tree that cannot be listed is no reason to stop.
func (p *briefs) surround(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	c.Surroundings = p.Surroundings(l)
	paths, err := l.Repo.Git().ListFiles(ctx, cmp.Or(l.Guarded.Tree, l.Turn.Head))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.Log.WarnContext(ctx, "could not look for instructions for contributors", p.TurnAttrs(l, "error", err)...)
		return nil
	}
	found := prompts.FindInstructions(paths)
	c.Task.Instructions = &found
	return nil
}

// authorRole is what the words of the author weigh. The permission of
// whoever wrote a comment was asked for when it was taken in.
func (p *briefs) authorRole(ctx context.Context, l *env.Lease) (prompts.Role, error) {
	may, err := p.may(ctx, l.Repo, l.Item.Author)
	switch {
	case err != nil:
		return "", err
	case may:
		return prompts.RoleWrite, nil
	}
	return prompts.RoleNone, nil
}

// role is what the words of an event's author weigh. They were asked for their
// permission when it was taken in, and get into no conversation without.
func role(e work.Event) prompts.Role {
	if e.Author.Bot || e.Outcome == work.OutcomeNoPermission {
		return prompts.RoleNone
	}
	return prompts.RoleWrite
}

// Documents are what an implementation may not consist of alone: a merged
// design asks for more than words.
var Documents = []string{"docs/**", "doc/**", "**/*.md", "**/*.mdx", "**/*.markdown", "**/*.rst", "**/*.adoc"}

// refusedChanges tells the agent beforehand what the gates refuse.
func refusedChanges(r config.Repo, kind work.Kind) []string {
	told := []string{"a token, password or private key in a file or an answer, even made up"}
	if kind.Mode() == work.ModeRead { // we write the file ourselves
		return told
	}
	told = append(told,
		"a submodule or nested repository, also a bare one, new or removed",
		fmt.Sprintf("a file over %s, or more than %d changed files", work.SizeText(r.MaxFileBytes), r.MaxFiles),
		"conflict markers",
		"a link out of the repository, special files",
		"a path over 1000 bytes, or like .git",
		"a raw file in place of LFS",
	)
	if len(r.ProtectedPaths) > 0 {
		told = append(told, "a change to "+strings.Join(r.ProtectedPaths, ", "))
	}
	if kind == work.KindImplementationStart {
		told = append(told, "a change to documents alone")
	}
	if len(r.RequiredTests) > 0 {
		told = append(told, "a change that fails the required tests")
	}
	if r.TestFiles != nil && kind == work.KindBugfixStart {
		told = append(told, "a bugfix without a test: a path that it changes must match "+r.TestFiles.String())
	}
	return told
}
