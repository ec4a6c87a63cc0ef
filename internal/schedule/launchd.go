package schedule

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// label is the job's name in launchd.
func (j Job) label() string { return "io.github.mergexo." + j.Name() }

// property returns the job's property list.
func property(j Job) string {
	var args, env strings.Builder
	for _, w := range j.Command(Launchd) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlText(w))
	}
	for _, v := range j.Env {
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", xmlText(v.Name), xmlText(v.Value))
	}
	log := xmlText(filepath.Join(j.Logs, "launchd.log"))
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
%s	</dict>
	%s
	<key>RunAtLoad</key>
	<true/>
	<!-- The pass works on when this has ended. -->
	<key>AbandonProcessGroup</key>
	<true/>
	<key>StandardOutPath</key>
	<string>%s</string>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`, j.header(), j.label(), args.String(), env.String(), startInterval(j.Every), log, log)
}

func startInterval(every time.Duration) string {
	return fmt.Sprintf("<key>StartInterval</key>\n\t<integer>%d</integer>", int(every/time.Second))
}

func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func (m Machine) plist(j Job) string {
	return filepath.Join(m.Home, "Library", "LaunchAgents", j.label()+".plist")
}

func properties(m Machine, j Job) ([]File, error) { return []File{{m.plist(j), property(j)}}, nil }

// launchdDomain returns the domain of the user's jobs: gui, or user if nobody is logged in at the screen.
func launchdDomain(ctx context.Context, m Machine) (string, error) {
	gui, user := fmt.Sprintf("gui/%d", m.UID), fmt.Sprintf("user/%d", m.UID)
	err := m.tell(ctx, "", "launchctl", "print", gui)
	if err == nil {
		return gui, nil
	}
	if m.tell(ctx, "", "launchctl", "print", user) == nil {
		return user, nil
	}
	return "", err
}

// AtScreen reports whether the jobs of this user's launchd belong to a session at the screen, where the
// keychain is unlocked.
func (m Machine) AtScreen(ctx context.Context) bool {
	domain, err := launchdDomain(ctx, m)
	return err == nil && strings.HasPrefix(domain, "gui/")
}

func launchdActive(_ Machine, j Job, domain string) []command {
	return []command{{words: []string{"launchctl", "print", domain + "/" + j.label()}}}
}

// launchdStart loads the job once launchd has released the previous one, which somebody may have disabled.
func launchdStart(m Machine, j Job, domain string) []command {
	at := domain + "/" + j.label()
	return []command{
		{words: []string{"launchctl", "bootout", at}, maybe: true},
		{words: []string{"launchctl", "enable", at}, maybe: true},
		{words: []string{"launchctl", "bootstrap", domain, m.plist(j)}, patient: true},
	}
}

func launchdStop(_ Machine, j Job, domain string) []command {
	return []command{{words: []string{"launchctl", "bootout", domain + "/" + j.label()}}}
}
