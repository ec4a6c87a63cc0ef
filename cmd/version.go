package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Args:  args(words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.env.Stdout, a.versionLine())
			return err
		},
	}
}

// versionLine is the release, or the revision that was built.
func (a *app) versionLine() string {
	info, _ := debug.ReadBuildInfo()
	return versionLine(a.env.Version, info)
}

func versionLine(release string, info *debug.BuildInfo) string {
	version, commit := release, ""
	if info != nil {
		if version == "" {
			version = info.Main.Version
		}
		commit = revision(info)
	}
	if version == "" {
		version = "(devel)"
	}
	return fmt.Sprintf("gh mergexo %s (%s%s %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is the commit that was built, with its date, when the build knew it.
func revision(info *debug.BuildInfo) string {
	var oid, date, dirty string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			oid = s.Value[:min(len(s.Value), 12)]
		case "vcs.time":
			date = " of " + s.Value[:min(len(s.Value), len("2006-01-02"))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = " with local changes"
			}
		}
	}
	if oid == "" {
		return ""
	}
	return "commit " + oid + date + dirty + ", "
}
