package about

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"
)

// NewVersionCmd makes the command version.
func NewVersionCmd(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version and how it was built",
		Example: "  $ gh mergexo version",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Env.Stdout, thisBuild(a.Env.Version))
			return err
		},
	}
}

// Version returns the release, or the version that the Go command recorded. It is never empty.
func Version(release string) string { return thisBuild(release).Version }

// VersionLine returns the release, or the built revision.
func VersionLine(release string) string { return thisBuild(release).String() }

// build is what is known of this program's build.
type build struct {
	Version  string // the release, or (devel)
	Commit   string // the commit that was built; empty: the build did not know
	Date     string // of that commit; empty: not known
	Modified bool   // there were local changes
	Go       string
	OS       string
	Arch     string
}

func thisBuild(release string) build {
	info, _ := debug.ReadBuildInfo()
	return buildOf(release, info)
}

func buildOf(release string, info *debug.BuildInfo) build {
	b := build{Version: release, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	b.Version = cmp.Or(b.Version, info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	return fmt.Sprintf("gh mergexo %s (%s%s %s/%s)", b.Version, b.revision(), b.Go, b.OS, b.Arch)
}

// revision returns the built commit and its date, or "" if the build did not record them.
func (b build) revision() string {
	if b.Commit == "" {
		return ""
	}
	said := "commit " + b.Commit[:min(len(b.Commit), 12)]
	if b.Date != "" {
		said += " of " + b.Date[:min(len(b.Date), len("2006-01-02"))]
	}
	if b.Modified {
		said += " with local changes"
	}
	return said + ", "
}
