package agent

import (
	"os"
	"path/filepath"
)

// Login is whether a program is logged in at its provider, as its files and its
// environment tell. Nothing is started and nobody is asked.
type Login struct {
	Known bool   // false: it may be either
	In    bool   // as far as can be told: that the provider accepts it shows when it is used
	Says  string // in one line
	Do    string // what logs it in
}

// maxLoginFile bounds what is read of a program's settings, in bytes.
const maxLoginFile = 1 << 20

// LoginOf tells it of an agent. Of a program that is not known it says nothing.
func LoginOf(s Spec) Login {
	if s.Adapter.Login == nil {
		return Login{Says: "a program of your own: gh mergexo cannot tell"}
	}
	return s.Adapter.Login(s)
}

// FirstSet is the first of some variables that an environment holds; empty: none.
func FirstSet(environ []string, names ...string) string {
	for _, name := range names {
		if Lookup(environ, name) != "" {
			return name
		}
	}
	return ""
}

// ReadHome reads a file in a program's home folder; empty where there is none, or none
// that is a file of a sensible size.
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
