package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/cmd/about"
	"github.com/mergexo/gh-mergexo/cmd/answer"
	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/cmd/logs"
	"github.com/mergexo/gh-mergexo/cmd/report"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/cmd/setup"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// The groups of commands in the help.
const (
	groupCore  = "core"
	groupSetup = "setup"
	groupItem  = "item"
	groupOther = "other"
)

// Tree returns the tree of all commands, for the reference.
func Tree() *cobra.Command { return newRootCmd(&app{&cli.App{}}) }

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "gh-mergexo <command> [flags]",
		Short: "Turn GitHub issues into merged pull requests with coding agents",
		Long: `Turn GitHub issues into merged pull requests with coding agents, unattended,
on your own machine.

Put a label on an issue, and the next pass has an agent do the work and opens a
pull request. People comment, and later passes answer and push fixes until the
pull request is merged or closed. "gh mergexo tick" runs one pass; cron, launchd
or a systemd timer repeats it. Several machines share the work by one PostgreSQL
database: see "gh mergexo machines --help".

Exit codes are those of gh: 0 done, 1 an error, 2 cancelled, 4 no GitHub login, or
GitHub rejects it.`,
		Example: `  $ gh mergexo demo              # needs no account, agent or config
  $ gh mergexo tick --dry-run    # what a pass would do, and why
  $ gh mergexo tick
  $ gh mergexo status
  $ gh mergexo show octo/repo#12`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "gh mergexo"},
		Version:       about.VersionLine(a.Env.Version),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(a.Env.Args)
	root.SetIn(a.Env.Stdin)
	root.SetOut(a.Env.Stdout)
	root.SetErr(a.Env.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(a.help)
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(cli.FlagError)
	root.PersistentFlags().StringVar(&a.ConfigPath, "config", "", "Read the configuration from `file`")

	root.AddGroup(&cobra.Group{ID: groupCore, Title: "CORE COMMANDS"}, &cobra.Group{ID: groupSetup, Title: "SETTING UP"}, &cobra.Group{ID: groupItem, Title: "COMMANDS FOR ONE ITEM, AS IN COMMENTS ON GITHUB"}, &cobra.Group{ID: groupOther, Title: "ADDITIONAL COMMANDS"})
	for _, c := range wanted(a) {
		made := c.make()
		made.GroupID = c.group
		root.AddCommand(made)
	}
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	if len(root.Commands()) > 1 {
		describeCompletion(root, a.App)
	}
	cli.RefuseUnknown(root)
	cli.RefuseUnknownHelp(root)
	return root
}

// maker makes one of the commands.
type maker struct {
	name, group string
	make        func() *cobra.Command
}

// wanted returns only the command that the first argument names, because a pass starts every
// minute. Help, completion and others that need all commands get all.
func wanted(a *app) []maker {
	all := commands(a)
	if len(a.Env.Args) > 0 {
		if i := slices.IndexFunc(all, func(m maker) bool { return m.name == a.Env.Args[0] }); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
}

func commands(a *app) []maker {
	of := func(made func(*cli.App) *cobra.Command) func() *cobra.Command {
		return func() *cobra.Command { return made(a.App) }
	}
	ours := func(made func(*app) *cobra.Command) func() *cobra.Command {
		return func() *cobra.Command { return made(a) }
	}
	setUp := func() *cobra.Command {
		return setup.NewCmd(a.App, func(ctx context.Context) error {
			return a.tick(ctx, &tickOptions{dryRun: true, read: true})
		})
	}
	return slices.Concat([]maker{
		{"demo", groupCore, ours(newDemoCmd)},
		{"tick", groupCore, ours(newTickCmd)},
		{"status", groupCore, of(status.NewCmd)},
		{"show", groupCore, of(status.NewShowCmd)},
		{"roadmap", groupCore, of(status.NewRoadmapCmd)},
		{"logs", groupCore, of(logs.NewCmd)},
		{"report", groupCore, of(report.NewCmd)},
		{"cost", groupCore, of(report.NewCostCmd)},
		{"init", groupSetup, setUp},
		{"doctor", groupSetup, of(doctor.NewCmd)},
		{"schedule", groupSetup, of(schedule.NewCmd)},
		{"uninstall", groupSetup, of(schedule.NewUninstallCmd)},
	}, a.commandMakers(), []maker{
		{"machines", groupOther, ours(newMachinesCmd)},
		{"database", groupOther, ours(newDatabaseCmd)},
		{"config", groupOther, of(newConfigCmd)},
		{"prompts", groupOther, of(about.NewPromptsCmd)},
		{"sandbox", groupOther, of(about.NewSandboxCmd)},
		{"version", groupOther, of(about.NewVersionCmd)},
		{"notify", groupOther, of(newNotifyCmd)},
		{"answer-tool", groupOther, of(answer.NewCmd)},
		{"demo-agent", groupOther, ours(newDemoAgentCmd)},
	})
}

// help prints a command's help in gh's layout.
func (a *app) help(c *cobra.Command, _ []string) {
	out := a.Output()
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintln(out.W, reflow(strings.TrimSpace(about)))
	for _, s := range sections(c) {
		if body := strings.Trim(s.body, "\n"); body != "" {
			fmt.Fprintf(out.W, "\n%s\n%s\n", out.Bold(s.title), body)
		}
	}
}

type section struct{ title, body string }

func sections(c *cobra.Command) []section {
	all := []section{{"USAGE", "  " + c.UseLine()}}
	for _, g := range c.Groups() {
		all = append(all, section{g.Title, commandList(c, g.ID)})
	}
	if len(c.Groups()) == 0 {
		all = append(all, section{"COMMANDS", commandList(c, "")})
	}
	all = append(all,
		section{"FLAGS", flagUsages(c.NonInheritedFlags())},
		section{"INHERITED FLAGS", flagUsages(c.InheritedFlags())},
		section{"EXAMPLES", c.Example},
	)
	if c.HasAvailableSubCommands() {
		all = append(all, section{"LEARN MORE", fmt.Sprintf("  Use '%s <command> --help' for more about a command.", c.CommandPath())})
	}
	return all
}

func commandList(c *cobra.Command, group string) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") { // sub.NamePadding fits all commands of the parent
			b.WriteString(terminal.Output{Width: helpWidth}.Indented(fmt.Sprintf("  %-*s ", sub.NamePadding()+1, sub.Name()+":"), sub.Short))
		}
	}
	return b.String()
}

// helpWidth is the width of help, as on most terminals.
const helpWidth = 80

func flagUsages(flags *pflag.FlagSet) string {
	return flags.FlagUsagesWrapped(helpWidth)
}

// reflow wraps the paragraphs of a text; those with indented lines stay unchanged.
func reflow(s string) string {
	parts := strings.Split(s, "\n\n")
	for i, part := range parts {
		if !strings.HasPrefix(part, " ") && !strings.Contains(part, "\n ") {
			parts[i] = strings.Join(terminal.Wrap(part, helpWidth), "\n")
		}
	}
	return strings.Join(parts, "\n\n")
}

// usage prints where to read about a command, after the line with the error. A list of all flags
// would hide that line.
func usage(c *cobra.Command) error {
	_, err := fmt.Fprintf(c.OutOrStderr(), "see %s --help\n", c.CommandPath())
	return err
}
