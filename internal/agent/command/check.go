package command

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// Check is part of Agent. An unknown program cannot be tried: it must exist, and a shell must be
// able to work in its place.
func (c *command) Check(ctx context.Context, r agent.Request) error {
	if _, err := c.spec.ProgramPath(c.spec.Command[0]); err != nil {
		return err
	}
	if c.spec.Wrap == nil {
		return nil
	}
	return c.spec.Checked(c.spec.CheckInside(ctx, r, nil, agent.Writes(r)))
}
