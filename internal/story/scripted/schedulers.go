//go:build unix

package scripted

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The schedulers' programs of a story do what ours asks of them, in files of the story.

// stop ends a program with a line that says why.
func stop(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}

func must(err error) {
	if err != nil {
		stop(70, "%v", err)
	}
}

// inWork is a path in the story's folder.
func inWork(name ...string) string {
	return filepath.Join(append([]string{os.Getenv("WORK")}, name...)...)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func crontab() {
	tab := inWork("crontab")
	switch strings.Join(os.Args[1:], " ") {
	case "-l":
		text, err := os.ReadFile(tab)
		if err != nil {
			stop(1, "no crontab for operator")
		}
		_, err = os.Stdout.Write(text)
		must(err)
	case "-":
		text, err := io.ReadAll(os.Stdin)
		must(err)
		if len(text) > 0 && !strings.HasSuffix(string(text), "\n") {
			stop(1, "new crontab file is missing newline before EOF, can't install.")
		}
		must(os.WriteFile(tab, text, 0o600))
	case "-r":
		must(os.Remove(tab))
	default:
		stop(1, "crontab: usage error: %q", os.Args[1:])
	}
}

func loginctl() {
	text, err := os.ReadFile(inWork("linger"))
	if err != nil {
		stop(1, "Could not get user: no such process")
	}
	fmt.Print(string(text))
}

func systemctl() {
	at := inWork("systemd")
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--user" || a == "--quiet" })
	if !isThere(at) || len(args) == 0 || os.Args[1] != "--user" {
		stop(1, "Failed to connect to bus: No medium found")
	}
	unit := args[len(args)-1]
	file, enabled, active := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "systemd", "user", unit), filepath.Join(at, "enabled-"+unit), filepath.Join(at, "active-"+unit)
	if slices.Contains([]string{"enable", "restart", "disable"}, args[0]) && !isThere(file) {
		stop(1, "Unit file %s does not exist.", unit)
	}
	switch args[0] {
	case "show-environment", "daemon-reload", "reset-failed":
	case "enable":
		must(os.WriteFile(enabled, nil, 0o600))
	case "restart":
		must(os.WriteFile(active, nil, 0o600))
	case "disable":
		must(os.RemoveAll(enabled))
		must(os.RemoveAll(active))
	case "is-enabled", "is-active":
		if !isThere(filepath.Join(at, strings.TrimPrefix(args[0], "is-")+"-"+unit)) {
			os.Exit(3)
		}
	default:
		stop(1, "Unknown command verb %s.", args[0])
	}
}

func launchctl() {
	at, args := inWork("launchd"), os.Args[1:]
	domain := fmt.Sprintf("gui/%d", os.Getuid())
	if !isThere(at) || len(args) < 2 || args[1] != domain && filepath.Dir(args[1]) != domain {
		stop(113, "Could not find domain for %q", args)
	}
	loaded := filepath.Join(at, "loaded-"+filepath.Base(args[1]))
	switch args[0] {
	case "enable":
	case "print":
		if args[1] != domain && !isThere(loaded) {
			stop(113, "Could not find service in domain")
		}
	case "bootout":
		if err := os.Remove(loaded); err != nil {
			stop(3, "Boot-out failed: 3: No such process")
		}
	case "bootstrap":
		loaded = filepath.Join(at, "loaded-"+strings.TrimSuffix(filepath.Base(args[2]), ".plist"))
		if !isThere(args[2]) || isThere(loaded) {
			stop(5, "Bootstrap failed: 5: Input/output error")
		}
		must(os.WriteFile(loaded, nil, 0o600))
	default:
		stop(64, "Unrecognized subcommand: %s", args[0])
	}
}
