package environ

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Env has the environment variables that the program uses. Nothing else in the program reads the
// environment. Flags may override its fields.
type Env struct {
	ConfigPath  string // path of the config; empty only if the home folder is unknown
	ConfigNamed bool   // --config or MERGEXO_CONFIG names it
	DataDir     string // default of runtime.state_dir; empty likewise
	Home        string
	Path        string // PATH
	NoColor     bool   // NO_COLOR is set and not empty
	CI          bool   // CI is set and not false

	vars   map[string]string
	hidden []string // variables that no program of others sees, see Hide
}

// Read reads the process's environment. Under cron HOME may be unset; then it comes from the user
// database.
func Read() Env {
	vars := os.Environ()
	e := Of(vars)
	if e.Home == "" {
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			e = Of(append(vars, "HOME="+u.HomeDir))
		}
	}
	return e
}

// UserName returns the name of the user who runs the program; empty: not known.
func (e Env) UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return cmp.Or(e.vars["USER"], e.vars["LOGNAME"])
}

// Of reads an environment given as NAME=value pairs. If a name occurs twice, the last one counts.
func Of(pairs []string) Env {
	e := Env{vars: make(map[string]string, len(pairs))}
	for _, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok && name != "" {
			e.vars[name] = value
		}
	}
	for _, name := range placeNames {
		if at := e.vars[name]; filepath.IsAbs(at) {
			e.vars[name] = files.Resolve(at)
		}
	}
	e.Home = e.vars["HOME"]
	e.Path = e.vars["PATH"]
	e.NoColor = e.vars["NO_COLOR"] != ""
	e.CI = e.vars["CI"] != "" && e.vars["CI"] != "false" && e.vars["CI"] != "0"
	if dir := e.base("XDG_CONFIG_HOME", ".config"); dir != "" {
		e.ConfigPath = filepath.Join(dir, "mergexo", "config.toml")
	}
	if path := e.vars["MERGEXO_CONFIG"]; path != "" {
		e.ConfigPath, e.ConfigNamed = path, true
	}
	if dir := e.base("XDG_DATA_HOME", ".local", "share"); dir != "" {
		e.DataDir = filepath.Join(dir, "mergexo")
	}
	return e
}

// placeNames are the variables whose folders a sandbox replaces. Inside it a symbolic link on the
// way to them need not exist, so their values are resolved.
var placeNames = []string{"HOME", "TMPDIR", "TMP", "TEMP"}

// base is an XDG base folder. The XDG specification says to ignore a relative one.
func (e Env) base(name string, fallback ...string) string {
	if dir := e.vars[name]; filepath.IsAbs(dir) {
		return dir
	}
	if !filepath.IsAbs(e.Home) {
		return ""
	}
	return filepath.Join(append([]string{e.Home}, fallback...)...)
}

// Lookup returns one variable.
func (e Env) Lookup(name string) (string, bool) {
	v, ok := e.vars[name]
	return v, ok
}

// agentNames are the variables that every agent sees, in addition to LC_*.
var agentNames = []string{"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TMP", "TEMP"}

// Hide returns the environment for programs of others without these variables. Lookup still finds them.
func (e Env) Hide(names []string) Env {
	e.hidden = slices.Concat(e.hidden, names)
	return e
}

func (e Env) hides(name string) bool { return slices.Contains(e.hidden, name) }

// Agent is the environment of an agent: an allow-list of PATH, HOME, locale and temporary folder,
// and the names in pass. Names that hold credentials of git or GitHub are omitted even if pass has
// them.
func (e Env) Agent(pass []string) []string {
	allowed := slices.Concat(agentNames, pass)
	var out []string
	for name, value := range e.vars {
		if (slices.Contains(allowed, name) || strings.HasPrefix(name, "LC_")) && !Withheld(name) && !e.hides(name) {
			out = append(out, name+"="+value)
		}
	}
	if _, ok := e.vars["HOME"]; !ok && e.Home != "" {
		out = append(out, "HOME="+e.Home)
	}
	slices.Sort(out)
	return out
}

// withheldPrefixes are prefixes of variables that no agent may see, even if env_pass names them:
// with them, a program could act on GitHub as the operator or undo the agent's own git
// configuration.
var withheldPrefixes = []string{"GH_", "GITHUB_", "GIT_", "SSH_", "MERGEXO_"}

// Withheld reports whether a variable has one of these prefixes.
func Withheld(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(withheldPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// locating are variables that point git at another repository, or make it write what it sends
// (tokens included) into a trace. They come from hooks and debugging sessions, and our git must not
// see them.
var locating = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:GIT_(DIR|WORK_TREE|INDEX_FILE|INDEX_VERSION|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|` +
		`CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|NO_REPLACE_OBJECTS|QUARANTINE_PATH|INTERNAL_.*|` +
		`CONFIG|CONFIG_PARAMETERS|LITERAL_PATHSPECS|GLOB_PATHSPECS|NOGLOB_PATHSPECS|ICASE_PATHSPECS|EXTERNAL_DIFF|DIFF_OPTS|DEFAULT_HASH|` +
		`AUTHOR_.*|COMMITTER_.*|TRACE.*|CURL_VERBOSE|REDIRECT_.*|EDITOR|SEQUENCE_EDITOR|PAGER|TEMPLATE_DIR|TERMINAL_PROMPT))$`)
})

// Git is the environment of our own git: the operator's, with their config, credential helpers and
// SSH agent, but without variables that would redirect it, and without a prompt.
func (e Env) Git() []string {
	out := []string{"GIT_TERMINAL_PROMPT=0"}
	for name, value := range e.vars {
		if !locating().MatchString(name) && !e.hides(name) {
			out = append(out, name+"="+value)
		}
	}
	if _, ok := e.vars["HOME"]; !ok && e.Home != "" {
		out = append(out, "HOME="+e.Home)
	}
	slices.Sort(out)
	return out
}

// All is the whole environment, for programs of others.
func (e Env) All() []string {
	return slices.DeleteFunc(e.Own(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return e.hides(name)
	})
}

// Own is the whole environment, for this program: for a detached pass.
func (e Env) Own() []string {
	var out []string
	for name, value := range e.vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// Forget removes the hidden variables from this process, before a library starts a program that
// inherits its environment.
func (e Env) Forget() {
	for _, name := range e.hidden {
		_ = os.Unsetenv(name) // fails only for an impossible name, which is not set
	}
}

// ExpandHome replaces a leading "~/" by the home folder.
func ExpandHome(path, home string) string {
	if home != "" && len(path) > 1 && path[0] == '~' && path[1] == '/' {
		return filepath.Join(home, path[2:])
	}
	return path
}

// Kept returns the folders in which gh keeps its login.
func (e Env) Kept() []string {
	all := []string{e.base("XDG_CONFIG_HOME", ".config"), e.base("", ".config")}
	for i, dir := range all {
		if dir != "" {
			all[i] = filepath.Join(dir, "gh")
		}
	}
	all = append(all, e.vars["GH_CONFIG_DIR"])
	all = slices.DeleteFunc(all, func(dir string) bool { return !filepath.IsAbs(dir) })
	slices.SortFunc(all, strings.Compare)
	return slices.Compact(all)
}
