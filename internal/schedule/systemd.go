package schedule

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// unitNames are the names of the job's service and timer.
func (j Job) unitNames() (service, timer string) { return j.Name() + ".service", j.Name() + ".timer" }

// unitService is the service that starts one pass. The pass outlives it.
func unitService(j Job) string {
	var env, line strings.Builder
	for _, v := range j.Env {
		fmt.Fprintf(&env, "Environment=%s\n", unitWord(v.Name+"="+v.Value))
	}
	for _, w := range j.Command(Systemd) {
		line.WriteString(" " + unitWord(strings.ReplaceAll(w, "$", "$$"))) // otherwise a leading $ would begin a variable
	}
	return fmt.Sprintf(`# %s
[Unit]
Description=One pass of gh mergexo, with %s

[Service]
Type=oneshot
%sExecStart=/usr/bin/env%s
# The pass works on when this has ended.
KillMode=process
`, j.header(), unitText(j.Config), env.String(), line.String())
}

// unitTimer is the timer that starts the service.
func unitTimer(j Job) string {
	service, _ := j.unitNames()
	return fmt.Sprintf(`# %s
[Unit]
Description=Repeats passes of gh mergexo, with %s

[Timer]
OnBootSec=10s
%s
AccuracySec=1s
Unit=%s

[Install]
WantedBy=timers.target
`, j.header(), unitText(j.Config), onUnitActive(j.Every), service)
}

func onUnitActive(every time.Duration) string {
	return fmt.Sprintf("OnUnitActiveSec=%ds", int(every/time.Second))
}

// unitText escapes text in a unit: a % would begin a specifier, and a backslash at the end would
// join the next line.
func unitText(s string) string {
	s = strings.ReplaceAll(s, "%", "%%")
	if strings.HasSuffix(s, `\`) {
		s += "."
	}
	return s
}

// unitWord quotes a word for a unit. A unit's program name cannot hold every path, so env starts
// the program.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s) + `"`
}

func units(m Machine, j Job) ([]File, error) {
	service, timer := j.unitNames()
	dir := filepath.Join(m.ConfigHome, "systemd", "user")
	return []File{{filepath.Join(dir, service), unitService(j)}, {filepath.Join(dir, timer), unitTimer(j)}}, nil
}

func systemdAnswers(ctx context.Context, m Machine) (string, error) {
	if err := m.tell(ctx, "", "systemctl", "--user", "show-environment"); err != nil {
		return "", fmt.Errorf("no systemd session of this user answers: %w", err)
	}
	return "", nil
}

func systemctl(words ...string) command {
	return command{words: append([]string{"systemctl", "--user"}, words...)}
}

func systemdActive(_ Machine, j Job, _ string) []command {
	_, timer := j.unitNames()
	return []command{systemctl("is-enabled", "--quiet", timer), systemctl("is-active", "--quiet", timer)}
}

func systemdStart(_ Machine, j Job, _ string) []command {
	_, timer := j.unitNames()
	return []command{systemctl("daemon-reload"), systemctl("enable", timer), systemctl("restart", timer)}
}

func systemdStop(_ Machine, j Job, _ string) []command {
	service, timer := j.unitNames()
	listed := systemctl("reset-failed", service) // a failed run would remain listed
	listed.maybe = true
	return []command{systemctl("disable", "--now", timer), listed}
}

// Lingers reports whether this user's timers run while nobody is logged in; known is false if that
// cannot be found out.
func (m Machine) Lingers(ctx context.Context) (lingers, known bool) {
	res, err := m.ask(ctx, "", "loginctl", "show-user", strconv.Itoa(m.UID), "--property=Linger", "--value")
	answer := strings.TrimSpace(string(res.Stdout))
	return answer == "yes", err == nil && res.Code == 0 && (answer == "yes" || answer == "no")
}
