package about

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// NewVersionCmd makes the command version.
func NewVersionCmd(a *cli.App) *cobra.Command {
	var flags *terminal.JSON
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Example: `  $ gh mergexo version
  $ gh mergexo version --json version,commit`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild(a.Env.Version)
			if flags.Asked() {
				return flags.Write(a.Output(), b.object())
			}
			_, err := fmt.Fprintln(a.Env.Stdout, b)
			return err
		},
	}
	flags = cli.AddJSONFlags(c, "version", "commit", "date", "modified", "go", "os", "arch")
	return c
}

// Version is the release, or what the Go command calls what was built: it is never empty.
func Version(release string) string { return thisBuild(release).version }

// VersionLine is the release, or the revision that was built.
func VersionLine(release string) string { return thisBuild(release).String() }

// build is what is known of how this program was made.
type build struct {
	version, commit, date string
	modified              bool // with local changes
}

func thisBuild(release string) build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(release, info)
}

func buildOf(release string, info *debug.BuildInfo) build {
	b := build{version: release}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	b.version = cmp.Or(b.version, info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

func (b build) object() map[string]any {
	return map[string]any{
		"version": b.version, "commit": b.commit, "date": b.date, "modified": b.modified,
		"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
	}
}

func (b build) String() string {
	return fmt.Sprintf("gh mergexo %s (%s%s %s/%s)", b.version, b.revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is the commit that was built, with its date, when the build knew it.
func (b build) revision() string {
	if b.commit == "" {
		return ""
	}
	said := "commit " + b.commit[:min(len(b.commit), 12)]
	if b.date != "" {
		said += " of " + b.date[:min(len(b.date), len("2006-01-02"))]
	}
	if b.modified {
		said += " with local changes"
	}
	return said + ", "
}
