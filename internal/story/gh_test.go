//go:build unix

package story

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdGh makes the gh of a story. It is as careful with tokens as the real one has to be
// used: with one in its environment it refuses.
func cmdGh(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: gh VERSION [ACCOUNT=TOKEN…]")
	}
	w := worldOf(ts)
	dir := filepath.Join(w.work, "gh-bin")
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "gh"), []byte(w.ghScript(args[0], args[1:])), 0o755))
	if path := ts.Getenv("PATH"); !strings.HasPrefix(path, dir+":") {
		ts.Setenv("PATH", dir+":"+path)
	}
}

// ghScript knows of gh what reviewers need. Before version 2.40 there was no --user.
func (w *world) ghScript(version string, accounts []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `#!/bin/sh
echo "$*" >>%q
if test -n "$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_ENTERPRISE_TOKEN"; then
	echo "a token is in the environment" >&2
	exit 3
fi
case "$*" in
--version) echo "gh version %s (2024-01-01)"; echo "https://github.com/cli/cli/releases" ;;
`, filepath.Join(w.work, "gh.log"), version)
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 || major > 2 || major == 2 && minor >= 40 {
		for _, pair := range accounts {
			account, token, _ := strings.Cut(pair, "=")
			fmt.Fprintf(&b, "\"auth token --hostname %s --user %s\") echo %q ;;\n", simHost, account, token)
		}
		fmt.Fprintf(&b, "auth*) echo \"no oauth token found for %s account\" >&2; exit 1 ;;\n", simHost)
	}
	b.WriteString("*) echo \"unknown flag: --user\" >&2; exit 1 ;;\nesac\n")
	return b.String()
}
