package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// loginFiles are the names under which programs keep their logins in their homes.
var loginFiles = []string{"auth.json", ".credentials.json", "oauth_creds.json", "session.json"}

// SetupOf returns a hash of what may make an agent work that could not: its program, its environment, its
// settings in our config and the files of its login, by size and time. A keychain is not seen.
func SetupOf(s Spec) string {
	sum := sha256.New()
	fmt.Fprintln(sum, s.Command, s.Model, s.Effort, s.Args, slices.Sorted(slices.Values(s.Environ)))
	var paths []string
	if program, err := Program(s); err == nil {
		paths = append(paths, program)
	}
	for _, home := range s.Adapter.Homes(s.Environ) {
		for _, name := range loginFiles {
			paths = append(paths, filepath.Join(home, name))
		}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}
