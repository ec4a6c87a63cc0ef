package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// commandsPage is the reference of all commands.
func commandsPage(tree *cobra.Command) string {
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\nEach takes `--help`, and `--config FILE` for another config than the usual one. `-R` names a repository as the config has it.\n\n")
	all := commands(tree)
	for _, c := range all[1:] {
		fmt.Fprintf(&b, "%s- [`%s`](#%s): %s\n", strings.Repeat("  ", depth(c)-1), c.CommandPath(), anchor(c), escaped(c.Short))
	}
	for _, c := range all {
		writeCommand(&b, c)
	}
	return b.String()
}

func depth(c *cobra.Command) int { return strings.Count(c.CommandPath(), " ") - 1 }

// anchor is a command's place in the page, as GitHub makes it of its heading.
func anchor(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func writeCommand(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n", c.CommandPath(), c.UseLine())
	for _, part := range about(c) {
		if verbatim(part) {
			fmt.Fprintf(b, "\n```\n%s\n```\n", unindented(part))
		} else {
			fmt.Fprintf(b, "\n%s\n", escaped(part))
		}
	}
	if all := options(c); len(all) > 0 {
		b.WriteString("\n| flag | |\n|---|---|\n")
		for _, o := range all {
			fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimSpace(o.names+" "+o.value), cell(o.says))
		}
	}
	if fields := cli.JSONFields(c); len(fields) > 0 {
		fmt.Fprintf(b, "\nFields of `--json` ([what is in them](json.md#%s)): `%s`.\n", strings.ReplaceAll(heading(c), " ", "-"), strings.Join(fields, "`, `"))
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", unindented(c.Example))
	}
}

// escaped is text that Markdown shows as it is.
func escaped(text string) string { return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(text) }

// cell is text in a table.
func cell(text string) string { return strings.ReplaceAll(escaped(text), "|", `\|`) }

// errorsPage lists exit codes and the codes of errors.
func errorsPage() string {
	var b strings.Builder
	b.WriteString(generated + `# Errors

The exit codes are gh's:

| code | |
|---|---|
| 0 | done, also when work waits or is blocked, or when there was nothing to do |
| 1 | an error |
| 2 | cancelled |
| 4 | no login, or one that GitHub does not accept |

Where ` + "`--json`" + ` was given and the command fails, the last line of standard error is an object, below the line for people:

` + "```json" + `
{"error":{"code":"unknown_item","message":"owner/name#12 is no work item: …","do":"gh mergexo status --all"}}
` + "```" + `

` + "`message`" + ` is for people and may change; ` + "`code`" + ` stays as it is:

| code | what it means | what ` + "`do`" + ` says, where the error itself knows nothing better |
|---|---|---|
`)
	for _, k := range cli.ErrorKinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Code, cell(k.Means), cell(k.Do))
	}
	b.WriteString("\n[Troubleshooting](../troubleshooting.md) says more about each.\n")
	return b.String()
}
