//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// A program that is named by its path, or found by a link, finds its interpreter
// beside it, also where PATH is as short as under cron.
func TestAProgramFindsItsInterpreterBesideIt(t *testing.T) {
	root := t.TempDir()
	bin, links := filepath.Join(root, "node", "bin"), filepath.Join(root, "links")
	for _, dir := range []string{bin, links} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"some-node": "#!/bin/sh\ncat >/dev/null; echo '" + good + "'\n", "mine": "#!/usr/bin/env some-node\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../node/bin/mine", filepath.Join(links, "mine")); err != nil {
		t.Fatal(err)
	}
	const short = "/usr/bin:/bin"
	for program, want := range map[string]string{
		filepath.Join(bin, "mine"):   short + ":" + bin,
		filepath.Join(links, "mine"): short + ":" + links + ":" + bin,
		"no-such-program":            short,
	} {
		s := spec(t, program)
		s.Environ = []string{"PATH=" + short, "HOME=" + root}
		s.Environ = agent.WithNeighbours(s)
		if got := agent.PathOf(s.Environ); got != want {
			t.Errorf("%s: PATH is %s, want %s", program, got, want)
		}
		if filepath.Base(program) != "mine" {
			continue
		}
		if _, err := run(t, s, request(t)); err != nil {
			t.Errorf("%s: %v", program, err)
		}
	}
}
