package agent

import (
	"os"
	"path/filepath"
)

// Login tells whether a program is logged in at its provider, according to its files and
// environment. Nothing is started and nobody is asked.
type Login struct {
	Known bool   // false: it may be either
	In    bool   // as far as known: whether the provider accepts it shows only in use
	Says  string // one line
	Do    string // the command that logs it in
}

// maxLoginFile bounds how much of a program's settings is read, in bytes.
const maxLoginFile = 1 << 20

// LoginOf returns the login of an agent; an unknown program has an unknown one.
func LoginOf(s Spec) Login {
	if s.Adapter.Login == nil {
		return Login{Says: "a program of your own: gh mergexo cannot tell"}
	}
	return s.Adapter.Login(s)
}

// FirstSet returns the first of these variables that is set; "" if none is.
func FirstSet(environ []string, names ...string) string {
	for _, name := range names {
		if Lookup(environ, name) != "" {
			return name
		}
	}
	return ""
}

// ReadHome reads a file in a program's home folder; "" if it is missing, not a regular file or too
// large.
func (s Spec) ReadHome(name string) string {
	for _, dir := range s.Adapter.Homes(s.Environ) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxLoginFile {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			return string(text)
		}
	}
	return ""
}
