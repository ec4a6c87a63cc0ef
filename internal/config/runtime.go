package config

import (
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
)

// runtime checks the [runtime] table.
func (p *parser) runtime() {
	r, t := &p.config.Runtime, p.at("runtime")
	p.places()
	p.promptsDir(t, r)
	r.Readable = p.letIn(t, "readable", r.Readable) // once the state folder is known
	p.metricsFile(t, r)
	if err := r.timings(p.env, p.host); err != nil {
		p.add(t.path, "%s", err)
	}
}

// places checks where the state is.
func (p *parser) places() {
	r, t := &p.config.Runtime, p.at("runtime")
	dir := environ.ExpandHome(r.StateDir, p.env.Home)
	switch {
	case dir == "" && p.env.DataDir == "":
		p.add("runtime.state_dir", "no folder for the state is known: HOME is not set; set state_dir in [runtime] to an absolute path")
	case dir == "":
		dir = p.env.DataDir
	case strings.HasPrefix(dir, "~/") && p.env.Home == "":
		t.bad("state_dir", "HOME is not set; write an absolute path instead of %q", dir)
	case !filepath.IsAbs(dir):
		t.bad("state_dir", "want an absolute path or one that begins with ~/, got %q", dir)
	}
	r.StateDir = dir
	p.database(t, r)
	if r.Machine != "" && !machineName().MatchString(r.Machine) {
		t.bad("machine", "%q is no name; want letters, digits, - and _, at most 63", r.Machine)
	}
}

// usualPrompts is the default folder of the operator's own prompts.
const usualPrompts = "prompts"

// promptsDir finds the folder of the operator's own prompts: by default beside the config.
func (p *parser) promptsDir(t place, r *Runtime) {
	dir, usual := environ.ExpandHome(r.PromptsDir, p.env.Home), r.PromptsDir == usualPrompts
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(p.config.Path), dir)
	}
	if !usual && !files.IsFolder(dir) {
		t.bad("prompts_dir", "%s is no folder", dir)
	}
	own, _ := filepath.Glob(filepath.Join(dir, "*.tmpl")) // only a bad pattern is an error
	for _, file := range own {
		if why := files.ChangedByOthers(file); why != "" {
			t.bad("prompts_dir", "%s", why)
			break
		}
	}
	r.PromptsDir = dir
}

// metricsFile checks the file that each pass writes for Prometheus. It is overwritten, so it must be
// neither the config nor inside the state folder.
func (p *parser) metricsFile(t place, r *Runtime) {
	if r.MetricsFile == "" {
		return
	}
	path := environ.ExpandHome(r.MetricsFile, p.env.Home)
	switch {
	case !filepath.IsAbs(path):
		t.bad("metrics_file", "want an absolute path or one that begins with ~/, got %q", path)
	case strings.HasSuffix(path, "/"):
		t.bad("metrics_file", "want a file, got the folder %q; node_exporter reads files that end in .prom", path)
	case path == p.config.Path, resolved(path) == resolved(p.config.Path):
		t.bad("metrics_file", "is the config itself, which each pass would write over")
	case r.StateDir != "" && within(path, r.StateDir):
		t.bad("metrics_file", "want a file outside of the state folder %q: what is there is ours alone, and each pass writes over the file", r.StateDir)
	}
	r.MetricsFile = path
}
