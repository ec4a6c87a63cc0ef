package claude

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// Check is part of Agent. Claude has no sandbox of its own: its program must exist, and a shell
// must be able to work in the same place.
func (c *claude) Check(ctx context.Context, r agent.Request) error {
	program, err := c.spec.ProgramPath(c.spec.CommandLine()[0])
	if err != nil {
		return err
	}
	version := append(append([]string{program}, c.spec.CommandLine()[1:]...), "--version")
	if res, err := c.spec.Launch(ctx, agent.Within(r), agent.Launch{Argv: version, Env: environ, MaxOutput: agent.CheckOutput}); err != nil || res.Code != 0 {
		return c.spec.Checked(res, err)
	}
	return c.spec.Checked(c.spec.CheckInside(ctx, r, nil, agent.Writes(r)))
}
