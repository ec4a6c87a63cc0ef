package config

import (
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// metricsSuffix is the file extension that node_exporter's textfile collector reads.
const metricsSuffix = ".prom"

// metricsFile returns the file that each pass writes for Prometheus. It is overwritten, so it must
// be neither the config nor inside the state folder.
func (p *parser) metricsFile(t *Table) string {
	file := t.text("metrics_file", "")
	if file == "" {
		return ""
	}
	path := environ.ExpandHome(file, p.env.Home)
	switch {
	case !filepath.IsAbs(path):
		t.bad("metrics_file", "want an absolute path or one that begins with ~/, got %q", file)
	case strings.HasSuffix(file, "/"):
		t.bad("metrics_file", "want a file, got the folder %q; node_exporter reads files that end in %s", file, metricsSuffix)
	case path == p.config.Path, resolved(path) == resolved(p.config.Path):
		t.bad("metrics_file", "is the config itself, which each pass would write over")
	case p.config.Runtime.StateDir != "" && within(path, p.config.Runtime.StateDir):
		t.bad("metrics_file", "want a file outside of the state folder %q: what is there is ours alone, and each pass writes over the file", p.config.Runtime.StateDir)
	}
	return path
}
