package environ

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secretName matches names of variables and keys whose values are secrets.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|secret|passw(or)?d|passphrase|credential|api_?key|access_?key|private_?key|auth)`)
})

// Secrets returns the readable tokens of this machine, each value with its name. They come from the
// environment, from git's credential files, and from the files right in the places where agents keep
// their logins: paths, or names below the home folder. Values that do not look like secrets (a path,
// words) are omitted.
func (e Env) Secrets(logins ...string) map[string]string {
	found := map[string]string{}
	note := func(value, what string) {
		if looksSecret(value) {
			found[value] = what
		}
	}
	for name, value := range e.vars {
		if secretName().MatchString(name) {
			note(value, "the value of "+name)
		}
		if u, err := url.Parse(value); err == nil && u.Host != "" { // such as a proxy's
			password, _ := u.User.Password()
			note(password, "the password in "+name)
		}
	}
	for _, name := range []string{".git-credentials", ".config/git/credentials"} {
		for _, path := range e.places(name) {
			for line := range strings.Lines(read(path)) {
				if u, err := url.Parse(strings.TrimSpace(line)); err == nil && u.User != nil {
					password, _ := u.User.Password()
					if password == "" || password == "x-oauth-basic" { // the token stands before it
						password = u.User.Username()
					}
					note(password, "a password of "+e.called(path))
					note(url.QueryEscape(password), "a password of "+e.called(path))
				}
			}
		}
	}
	for _, path := range e.places(".netrc") {
		fields := strings.Fields(read(path))
		for i, word := range fields[:max(0, len(fields)-1)] {
			if word == "password" {
				note(fields[i+1], "a password of "+e.called(path))
			}
		}
	}
	for _, name := range logins {
		for _, place := range e.places(name) {
			for _, path := range filesOf(place) {
				eachLogin(path, func(value string) { note(value, "a token of "+e.called(path)) })
			}
		}
	}
	return found
}

// places returns where a name below the home folder may be: an absolute path is itself, and the XDG
// base folders move what is below theirs.
func (e Env) places(name string) []string {
	if filepath.IsAbs(name) {
		return []string{name}
	}
	if !filepath.IsAbs(e.Home) {
		return nil
	}
	all := []string{filepath.Join(e.Home, filepath.FromSlash(name))}
	for prefix, variable := range map[string]string{".config/": "XDG_CONFIG_HOME", ".local/share/": "XDG_DATA_HOME"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && filepath.IsAbs(e.vars[variable]) {
			all = append(all, filepath.Join(e.vars[variable], filepath.FromSlash(rest)))
		}
	}
	return all
}

// called names a file for messages, which may reach GitHub: without the name of the home folder.
func (e Env) called(path string) string {
	if rest, ok := strings.CutPrefix(path, e.Home+string(filepath.Separator)); ok && e.Home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return filepath.Base(path)
}

// mostFiles bounds the files of one folder that are read.
const mostFiles = 200

// filesOf returns a file, or the files right in a folder that may have logins or settings.
func filesOf(path string) []string {
	entries, err := os.ReadDir(path)
	if err != nil {
		return []string{path}
	}
	var all []string
	for _, d := range entries[:min(len(entries), mostFiles)] {
		known := slices.Contains([]string{".json", ".jsonc", ".yaml", ".yml", ".toml"}, strings.ToLower(filepath.Ext(d.Name())))
		if !d.IsDir() && (known || loginFile().MatchString(d.Name())) {
			all = append(all, filepath.Join(path, d.Name()))
		}
	}
	return all
}

// loginFile matches the names of files that have nothing but logins.
var loginFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(auth|cred|oauth|token|secret|session\.json|\.env$)`)
})

// assigned matches a line of YAML, TOML or of variables, with its key and its value.
var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t-]*(?:export[ \t]+)?["']?([A-Za-z0-9_.-]+)["']?[ \t]*[:=][ \t]*["']?([^"'\s]+)`)
})

// eachLogin calls do with what may be a secret in a file: the values of keys with names of secrets, and
// in a file of logins every value.
func eachLogin(path string, do func(string)) {
	text := read(path)
	all := loginFile().MatchString(filepath.Base(path))
	var doc any
	if json.Unmarshal([]byte(text), &doc) == nil {
		eachSecret("", doc, all, do)
		return
	}
	for _, m := range assigned().FindAllStringSubmatch(text, -1) {
		eachSecret(m[1], m[2], all, do)
	}
}

// maxCredentials bounds a credential file, in bytes.
const maxCredentials = 1 << 20

// read returns the text of a file; "" if it is missing or not a regular file.
func read(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxCredentials))
	if err != nil {
		return ""
	}
	return string(text)
}

// eachSecret walks a document for the values of keys with names of secrets, or for all values but those
// that describe a login.
func eachSecret(key string, value any, all bool, do func(string)) {
	switch v := value.(type) {
	case string:
		if secretName().MatchString(key) || all && !describing().MatchString(key) {
			do(v)
		}
	case map[string]any:
		for k, sub := range v {
			eachSecret(k, sub, all || groupName().MatchString(key), do)
		}
	case []any:
		for _, sub := range v {
			eachSecret(key, sub, all, do)
		}
	}
}

// describing match keys of a login that say whose it is and what it is.
var describing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(id|email|name|type|scopes?|ur[li]|expir(es?|y)|date|version|plan|last_refresh)$`)
})

// groupName matches keys of mappings whose values are secrets, whatever their keys are.
var groupName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|secret|credential|password|key)s$`)
})

// shortestSecret is the length of the shortest value that counts as a secret.
const shortestSecret = 12

// looksSecret distinguishes a token from other values under these names: the path of a socket, a
// URL, a sentence, a word.
func looksSecret(value string) bool {
	switch {
	case len(value) < shortestSecret, strings.ContainsAny(value, " \t\r\n"):
		return false
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "~"), strings.Contains(value, "://"):
		return false
	}
	return strings.ContainsAny(value, "0123456789")
}
