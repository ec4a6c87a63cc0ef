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

// target is where a message goes. A program sees no more of the environment than an agent
// without a key does, and what env_pass names.
func (m *Machine) target(n config.Notify) (notify.Target, error) {
	t := notify.Target{Name: n.Name, Timeout: n.Timeout, URL: n.URL, Dir: m.env.Home}
	hidden := []string{n.URL, "[address]"}
	if n.SecretEnv != "" {
		secret, ok := m.env.Lookup(n.SecretEnv)
		if !ok || secret == "" {
			return t, fmt.Errorf("secret_env names %s, which is not set in this environment", n.SecretEnv)
		}
		t.Secret = secret
		hidden = append(hidden, secret, "["+n.SecretEnv+"]")
	}
	if len(n.Command) > 0 {
		hidden = nil
		program, err := proc.LookPath(n.Command[0], hostPath(m.cfg, m.env))
		if err != nil {
			return t, err
		}
		t.Command, t.Env = append([]string{program}, n.Command[1:]...), slices.DeleteFunc(m.env.Agent(n.EnvPass), isPath)
		t.Env = append(t.Env, "PATH="+hostPath(m.cfg, m.env))
	}
	pass, mask := m.masking(n.EnvPass), strings.NewReplacer(hidden...)
	t.Redact = func(s string) string { return pass(mask.Replace(s)) }
	return t, nil
}
