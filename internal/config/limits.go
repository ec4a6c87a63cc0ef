package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// defaultProtectedPaths returns the paths that no push may change by default. A workflow pushed by
// an agent would run with the repository's secrets, as would files of other systems that act on a
// push; CODEOWNERS decides who must approve.
func defaultProtectedPaths() []string {
	return []string{
		".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}", ".github/dependabot.{yml,yaml}",
		"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
		".gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".travis.yml", "**/Jenkinsfile", "azure-pipelines.{yml,yaml}", ".azure-pipelines/**", ".buildkite/**",
		".drone.yml", ".woodpecker.{yml,yaml}", ".woodpecker/**", "bitbucket-pipelines.yml", "{,.}appveyor.yml", ".cirrus.{yml,star}", ".semaphore/**",
		".teamcity/**", ".forgejo/**", ".gitea/**", "{buildspec,cloudbuild}.{yml,yaml}", ".tekton/**",
		"**/.devcontainer/**", "**/.devcontainer.json",
	}
}

func checkGlobs(t *Table, key string, globs []string) {
	for _, glob := range globs {
		if why := globProblem(glob); why != "" {
			t.bad(key, "%q %s", glob, why)
		}
	}
}

// globProblem returns why a glob cannot protect anything, or "".
func globProblem(glob string) string {
	switch {
	case strings.TrimSpace(glob) == "":
		return "is empty"
	case !doublestar.ValidatePattern(glob):
		return "is no pattern: look for a missing ] or } in it"
	case strings.HasPrefix(glob, "/") || strings.Contains(glob, `\`):
		return "matches nothing: write it relative to the repository's root, with slashes"
	case slices.Contains(strings.Split(glob, "/"), "..") || strings.HasPrefix(glob, "./"):
		return "matches nothing: write it without . and .."
	case strings.HasSuffix(glob, "/"):
		return "matches no file: write " + glob + "** for all that is in a folder"
	}
	return ""
}

// promptsDir returns the folder of the operator's own prompts: by default beside the config.
func (p *parser) promptsDir(t *Table) string {
	written := t.text("prompts_dir", usualPrompts)
	dir := environ.ExpandHome(written, p.env.Home)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(p.config.Path), dir)
	}
	if written != usualPrompts && !files.IsFolder(dir) {
		t.bad("prompts_dir", "%s is no folder", dir)
	}
	own, _ := filepath.Glob(filepath.Join(dir, "*.tmpl")) // only a bad pattern is an error
	for _, file := range own {
		if why := files.ChangedByOthers(file); why != "" {
			t.bad("prompts_dir", "%s", why)
			break
		}
	}
	return dir
}

// testFiles reads which paths are tests.
func testFiles(t *Table) *regexp.Regexp {
	written := t.text("test_file_regex", "")
	if written == "" {
		return nil
	}
	form, err := regexp.Compile(written)
	if err != nil {
		t.bad("test_file_regex", "%q is no regular expression: %s", written, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return form
}

func patternOf(form *regexp.Regexp) string {
	if form == nil {
		return ""
	}
	return form.String()
}

// checkTests checks the commands of a repository.
func (p *parser) checkTests(t *Table, r Repo) {
	p.checkRepoCommand(t, "required_tests", `["make", "test"]`, r.RequiredTests)
	p.checkRepoCommand(t, "setup", `["npm", "ci"]`, r.Setup)
}

// checkRepoCommand checks a command of a repository and resolves ~/ in its program.
func (p *parser) checkRepoCommand(t *Table, key, such string, argv []string) {
	if len(argv) == 0 {
		return
	}
	program := environ.ExpandHome(argv[0], p.env.Home)
	switch {
	case strings.TrimSpace(program) == "":
		t.bad(key, `its program is empty; write the program and its arguments, such as %s`, such)
	case strings.ContainsAny(program, " \t") && len(argv) == 1 && !filepath.IsAbs(program):
		t.bad(key, `%q is one word; write program and arguments apart, such as %s`, argv[0], such)
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			t.bad(key, "%q holds a NUL character", arg)
		}
	}
	argv[0] = program
	checkPrograms(t, key, argv)
}

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

// roadmapKeys are the keys of [repo.roadmap].
func roadmapKeys(l *roadmap.Limits) []key {
	return []key{
		countKey("parallel", &l.Parallel, 3, 1, 100).says("issues below one roadmap that are under way at a time, those of its nested roadmaps too"),
		numberKey("max_cost", &l.MaxCost, 0, 1_000_000).says("cost of everything below one roadmap, in US dollars; then nothing more of it begins; 0: no limit"),
	}
}

func (p *parser) roadmap(t *Table) (l roadmap.Limits) {
	readKeys(t, roadmapKeys(&l))
	t.done()
	return l
}

// RoadmapLimits returns a function for the limits of the roadmaps in a repository. For one that the
// config does not name, those of home hold.
func (c *Config) RoadmapLimits(home work.RepoName) func(work.RepoName) roadmap.Limits {
	return func(name work.RepoName) roadmap.Limits {
		r, ok := c.Repo(name)
		if !ok {
			r, _ = c.Repo(home)
		}
		return r.Roadmap
	}
}
