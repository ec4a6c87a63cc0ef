package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Tell sends a message to one [[notify]] of the config.
func (m *Machine) Tell(ctx context.Context, name string, msg notify.Message) notify.Answer {
	i := slices.IndexFunc(m.cfg.Notify, func(n config.Notify) bool { return n.Name == name })
	if i < 0 {
		return notify.Answer{Fate: notify.Unreached, Says: "the config has no [[notify]] of that name"}
	}
	target, err := m.target(m.cfg.Notify[i])
	if err != nil {
		return notify.Answer{Fate: notify.Unreached, Says: err.Error()}
	}
	return notify.Send(ctx, target, msg)
}

// target returns where a message goes. A program sees as much of the environment as an agent
// without a key, plus what env_pass names.
func (m *Machine) target(n config.Notify) (notify.Target, error) {
	t := notify.Target{URL: n.Webhook, Dir: m.env.Home, Redact: m.masking(n.EnvPass)}
	if len(n.Command) > 0 {
		path := hostPath(m.cfg, m.env)
		program, err := proc.LookPath(n.Command[0], path)
		t.Command, t.Env = append([]string{program}, n.Command[1:]...), append(slices.DeleteFunc(m.env.Agent(n.EnvPass), isPath), "PATH="+path)
		return t, err
	}
	hidden := []string{n.Webhook, "[webhook]"}
	if n.SecretEnv != "" {
		t.Secret, _ = m.env.Lookup(n.SecretEnv)
		if t.Secret == "" {
			return t, fmt.Errorf("secret_env names %s, which is not set in this environment", n.SecretEnv)
		}
		hidden = append(hidden, t.Secret, "["+n.SecretEnv+"]")
	}
	mask := strings.NewReplacer(hidden...)
	t.Redact = func(s string) string { return m.secrets.Redact(mask.Replace(s)) }
	return t, nil
}
