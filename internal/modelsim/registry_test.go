//go:build unix

package modelsim_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// registry is a registry of npm packages on loopback with versions of codex and
// claude that do nothing but name their version.
type registry struct {
	versions map[string][]string // of each package
	refused  map[string]bool     // "package@version" that may not be fetched
}

func (g registry) start(t *testing.T) string {
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if name, version, ok := strings.Cut(path, "/-/"); ok {
			if g.refused[name+"@"+version] {
				http.Error(w, "forbidden", http.StatusForbidden)
				return
			}
			_, _ = w.Write(pack(t, name, version))
			return
		}
		if g.versions[path] == nil {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(g.about(t, path, "http://"+r.Host))
	})
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// about is what a registry tells of a package.
func (g registry) about(t *testing.T, name, base string) map[string]any {
	all, versions := map[string]any{}, g.versions[name]
	for _, v := range versions {
		sum := sha512.Sum512(pack(t, name, v))
		all[v] = map[string]any{
			"name": name, "version": v, "bin": map[string]string{program(name): "bin.js"},
			"dist": map[string]any{"tarball": base + "/" + name + "/-/" + v, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])},
		}
	}
	return map[string]any{"name": name, "dist-tags": map[string]string{"latest": versions[len(versions)-1]}, "versions": all}
}

func program(name string) string {
	if strings.HasSuffix(name, "codex") {
		return "codex"
	}
	return "claude"
}

// pack is the archive of a package.
func pack(t *testing.T, name, version string) []byte {
	about, err := json.Marshal(map[string]any{"name": name, "version": version, "bin": map[string]string{program(name): "bin.js"}})
	if err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	for _, f := range [][2]string{
		{"package.json", string(about)},
		{"bin.js", "#!/usr/bin/env node\nconsole.log('" + program(name) + " " + version + "')\n"},
		{"install.cjs", ""},
	} {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + f[0], Mode: 0o755, Size: int64(len(f[1]))}); err != nil {
			t.Error(err)
		}
		_, _ = archive.Write([]byte(f[1]))
	}
	_, _ = archive.Close(), zip.Close()
	return b.Bytes()
}

// clis runs script/agent-clis with a registry, and gives the folder that it
// prints and its exit code.
func clis(t *testing.T, address, cache string, args ...string) (bin string, code int) {
	t.Helper()
	script := exec.Command(filepath.Join("..", "..", "script", "agent-clis"), args...)
	script.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "npm_config_registry="+address, "npm_config_cache="+filepath.Join(cache, "npm"),
		"npm_config_fetch_retry_mintimeout=1", "npm_config_fetch_retry_maxtimeout=1")
	var problem bytes.Buffer
	script.Stderr = &problem
	out, err := script.Output()
	if err != nil && script.ProcessState == nil {
		t.Fatal(err)
	}
	t.Logf("agent-clis %s: %s", args, &problem)
	return strings.TrimSpace(string(out)), script.ProcessState.ExitCode()
}

// says is what a program prints.
func says(t *testing.T, bin, program string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, program)).Output()
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(string(out))
}

const codexPackage, claudePackage = "@openai/codex", "@anthropic-ai/claude-code"

func needNpm(t *testing.T) {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
}

func TestAgentClisInstallsTheNewestThatIsServed(t *testing.T) {
	testhome.OnlyLong(t)
	needNpm(t)
	g := registry{
		versions: map[string][]string{
			codexPackage:  {"0.9.0", "0.10.0", "0.11.0-alpha.1", "0.10.0-linux-x64"},
			claudePackage: {"2.1.9", "2.1.10", "2.1.11"},
		},
		refused: map[string]bool{claudePackage + "@2.1.11": true},
	}
	address, cache := g.start(t), t.TempDir()
	bin, code := clis(t, address, cache, "--newest")
	if codex, claude := says(t, bin, "codex"), says(t, bin, "claude"); code != 0 || codex != "codex 0.10.0" || claude != "claude 2.1.10" {
		t.Errorf("code %d, %s, %s", code, codex, claude)
	}
	if again, code := clis(t, address, cache, "0.10.0", "2.1.10"); again != bin || code != 0 {
		t.Errorf("asked for these: %s, %d; installed: %s", again, code, bin)
	}
	if _, code := clis(t, address, cache, "0.10.0", "2.1.11"); code != 1 {
		t.Errorf("asked for what is refused: code %d", code)
	}
	left, err := filepath.Glob(filepath.Join(cache, "gh-mergexo", "agents", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the cache holds %v, %v", left, err)
	}
}

func TestAgentClisSaysThatThereIsNoRegistry(t *testing.T) {
	testhome.OnlyLong(t)
	needNpm(t)
	for _, args := range [][]string{nil, {"--newest"}} {
		if bin, code := clis(t, "http://127.0.0.1:1", t.TempDir(), args...); bin != "" || code != 3 {
			t.Errorf("%v: %q, code %d", args, bin, code)
		}
	}
	if _, code := clis(t, "http://127.0.0.1:1", t.TempDir(), "--nonsense"); code != 2 {
		t.Errorf("nonsense: code %d", code)
	}
}
