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
	"github.com/mergexo/gh-mergexo/cmd/mcp"
	"github.com/mergexo/gh-mergexo/cmd/report"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/cmd/setup"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// The groups of commands in the help.
const (
	groupLook    = "look"
	groupMachine = "machine"
	groupItem    = "item"
)

// Tree returns the tree of all commands, for the reference. demo has the constructors of the commands that only the
// demo's program has, by their names.
func Tree(demo map[string]func(*cli.App) *cobra.Command) *cobra.Command {
	return newRootCmd(&app{&cli.App{Env: Env{Demo: demo}}})
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "gh-mergexo <command> [flags]",
		Short: "Turn GitHub issues into merged pull requests with coding agents",
		Long: `Turn GitHub issues into merged pull requests with coding agents on your machine:
label one, and passes open a pull request, answer comments and push fixes.`,
		Example: `  $ gh mergexo demo              # needs no account, agent or config
  $ gh mergexo tick --dry-run    # what a pass would do, and why`,
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

	root.AddGroup(&cobra.Group{ID: groupLook, Title: "LOOK"}, &cobra.Group{ID: groupMachine, Title: "THIS MACHINE"}, &cobra.Group{ID: groupItem, Title: "ONE ITEM, AS IN COMMENTS ON GITHUB"})
	for _, m := range commands(a) {
		if m.name != "demo" {
			a.Commands = append(a.Commands, m.name)
		}
	}
	for _, c := range wanted(a) {
		made := c.make()
		made.GroupID = c.group
		root.AddCommand(made)
	}
	root.SetHelpCommandGroupID(groupMachine)
	root.SetCompletionCommandGroupID(groupMachine)
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
	all := slices.Concat([]maker{
		{"demo", groupMachine, of(newDemoCmd)},
		{"tick", groupMachine, ours(newTickCmd)},
		{"status", groupLook, of(status.NewCmd)},
		{"show", groupLook, of(status.NewShowCmd)},
		{"logs", groupLook, of(logs.NewCmd)},
		{"report", groupLook, of(report.NewCmd)},
		{"mcp", groupLook, of(mcp.NewCmd)},
		{"init", groupMachine, setUp},
		{"doctor", groupMachine, of(doctor.NewCmd)},
		{"schedule", groupMachine, of(schedule.NewCmd)},
	}, a.commandMakers(), []maker{
		{"machines", groupMachine, ours(newMachinesCmd)},
		{"database", groupMachine, ours(newDatabaseCmd)},
		{"config", groupMachine, of(newConfigCmd)},
		{"prompts", groupMachine, of(about.NewPromptsCmd)},
		{"version", groupMachine, of(about.NewVersionCmd)},
		{"answer-tool", groupMachine, of(answer.NewCmd)},
	})
	if made := a.Env.Demo["demo-agent"]; made != nil {
		all = append(all, maker{"demo-agent", groupMachine, of(made)})
	}
	return all
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
	use := "  " + c.UseLine()
	if !c.HasParent() {
		use += "; about one: " + c.CommandPath() + " <command> --help"
	}
	all := []section{{"USAGE", use}}
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
