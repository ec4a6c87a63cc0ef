//go:build unix

package testhome

import (
	"os/exec"
	"syscall"
)

// apart takes a process out of our group: what kills the group spares it.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
