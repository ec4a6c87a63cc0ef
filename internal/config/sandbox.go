package config

import (
	"path/filepath"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// sandbox reads what shall stand between agents and the operator's files.
func (p *parser) sandbox(t *table, fallback work.Sandbox) work.Sandbox {
	s := work.Sandbox(t.text("sandbox", string(fallback)))
	if s != fallback && !slices.Contains(work.Sandboxes(), s) {
		t.bad("sandbox", "want one of %q, got %q", work.Sandboxes(), s)
	}
	return s
}

// writable reads the folders that an agent may write in its sandbox, beside
// its checkout and its own home.
func (p *parser) writable(t *table) []string {
	var out []string
	for _, dir := range t.texts("writable") {
		dir = expandHome(dir, p.env.Home)
		if !filepath.IsAbs(dir) {
			t.bad("writable", "want absolute paths or ones that begin with ~/, got %q", dir)
		}
		out = append(out, dir)
	}
	return out
}

// Sandbox is what the config asks for an agent.
func (c *Config) Sandbox(a Agent) work.Sandbox {
	if a.Sandbox != "" {
		return a.Sandbox
	}
	return c.Runtime.Sandbox
}
