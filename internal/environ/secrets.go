package environ

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// secretName matches names of variables and keys whose values are secrets.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(token|secret|passw(or)?d|passphrase|credential|api_?key|access_?key|private_?key|auth)`)
})

// Secrets returns the readable tokens of this machine, each value with its name. They come from the
// environment and from git's and the agents' own credential files. Values that do not look like
// secrets (a path, words) are omitted.
func (e Env) Secrets() map[string]string {
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
	if e.Home == "" {
		return found
	}
	for _, file := range []string{".git-credentials", ".config/git/credentials"} {
		for line := range strings.Lines(e.read(file)) {
			if u, err := url.Parse(strings.TrimSpace(line)); err == nil {
				password, _ := u.User.Password()
				note(password, "a password of ~/"+file)
			}
		}
	}
	fields := strings.Fields(e.read(".netrc"))
	for i, word := range fields[:max(0, len(fields)-1)] {
		if word == "password" {
			note(fields[i+1], "a password of ~/.netrc")
		}
	}
	for _, file := range []string{".codex/auth.json", ".claude/.credentials.json"} {
		var doc any
		if json.Unmarshal([]byte(e.read(file)), &doc) == nil {
			eachSecret("", doc, func(value string) { note(value, "a token of ~/"+file) })
		}
	}
	return found
}

// maxCredentials bounds a credential file, in bytes.
const maxCredentials = 1 << 20

// read returns the text of a file in the home folder; "" if it is missing or not a regular file.
func (e Env) read(name string) string {
	path := filepath.Join(e.Home, filepath.FromSlash(name))
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

// eachSecret walks a document for the values of keys with names of secrets.
func eachSecret(key string, value any, do func(string)) {
	switch v := value.(type) {
	case string:
		if secretName().MatchString(key) {
			do(v)
		}
	case map[string]any:
		for k, sub := range v {
			eachSecret(k, sub, do)
		}
	case []any:
		for _, sub := range v {
			eachSecret(key, sub, do)
		}
	}
}

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
