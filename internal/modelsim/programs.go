package modelsim

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"path/filepath"
)

//go:embed programs/package.json
var manifest []byte

// Programs is the folder of the real codex and claude, as script/agent-clis
// installs them: the one that MERGEXO_AGENT_CLIS names, else the cache. Where
// there is none, why says so, for a test to skip with. Where the variable
// promises one, a program that is missing is the test's failure.
func Programs() (dir, why string) {
	if dir, told := os.LookupEnv("MERGEXO_AGENT_CLIS"); told {
		if dir == "" {
			return "", "codex and claude were not to be had when this run began: script/agent-clis said why"
		}
		return dir, ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "no cache folder: " + err.Error()
	}
	sum := sha256.Sum256(manifest)
	dir = filepath.Join(cache, "gh-mergexo", "agents", hex.EncodeToString(sum[:])[:12], "node_modules", ".bin")
	if _, err := os.Stat(dir); err != nil {
		return "", "codex and claude are not installed for tests: script/agent-clis does it"
	}
	return dir, ""
}
