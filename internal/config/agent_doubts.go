package config

import (
	"fmt"
	"os"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// Doubts returns what the config names for a used agent but this machine lacks: a path let into its
// sandbox, a variable passed on to it. These are no errors: a folder may be created later, and cron
// has another environment. But nothing else reveals a misspelt name.
func (c *Config) Doubts(env environ.Env, a Agent) []string {
	var all []string
	absent := func(where, key string, paths []string) {
		for _, path := range paths {
			if _, err := os.Stat(path); err != nil {
				all = append(all, fmt.Sprintf("%s of %s names %q, which is not there", key, where, path))
			}
		}
	}
	where := "[agents." + a.Name + "]"
	absent("[runtime]", "readable", c.Runtime.Readable)
	absent(where, "readable", a.Readable)
	absent(where, "writable", a.Writable)
	for _, name := range a.EnvPass {
		if _, ok := env.Lookup(name); !ok {
			all = append(all, fmt.Sprintf("env_pass of %s names %s, which is not set in this environment", where, name))
		}
	}
	return all
}
