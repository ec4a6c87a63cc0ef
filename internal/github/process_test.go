package github

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// TestInProcessOfItsOwn prints the account when the test below runs it: proxies and gh's files are
// read once per process.
func TestInProcessOfItsOwn(t *testing.T) {
	if os.Getenv("MERGEXO_TEST_VIEWER") == "" {
		t.Skip("run by TestReachesGitHubAsGhDoes")
	}
	c, err := New(transport.Options{Now: time.Now})
	must(t, err)
	acc, _, _, err := c.Viewer(t.Context(), "")
	must(t, err)
	s, err := c.Sweep(t.Context(), repoName("alice", "app"), nil)
	must(t, err)
	fmt.Printf("\nhost %s, rest %s, graphql %s\n", c.host(), acc.Login, s.Viewer.Login)
}

// If gh reaches GitHub, so do we.
func TestReachesGitHubAsGhDoes(t *testing.T) {
	hub, err := githubsim.New(githubsim.Options{Dir: t.TempDir(), Now: time.Now})
	must(t, err)
	t.Cleanup(func() { must(t, hub.Close()) })
	token, err := hub.AddUser("alice")
	must(t, err)
	addr, err := hub.ServeTCP()
	must(t, err)
	dir, err := os.MkdirTemp("", "gh") // a socket's path must be short
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	socket := filepath.Join(dir, "s")
	must(t, hub.ServeUnix(socket))
	config := "http_unix_socket: " + socket + "\n"
	for _, tt := range []struct {
		name, config, hosts, host string
		env                       []string
	}{
		{name: "socket", config: config, host: "github.localhost", env: []string{"GH_HOST=github.localhost", "GH_TOKEN=" + token}},
		{name: "socket, default host", config: config, host: "github.com", env: []string{"GH_TOKEN=" + token}},
		{name: "proxy", host: "github.localhost", env: []string{"HTTP_PROXY=http://" + addr, "GH_HOST=github.localhost", "GH_TOKEN=" + token}},
		{name: "socket, enterprise", config: config, host: "ghes.test", env: []string{"GH_HOST=ghes.test", "GH_ENTERPRISE_TOKEN=" + token}},
		{name: "hosts.yml", config: config, hosts: "github.localhost:\n  oauth_token: " + token + "\n", host: "github.localhost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			must(t, os.WriteFile(filepath.Join(home, "config.yml"), []byte(tt.config), 0o600))
			must(t, os.WriteFile(filepath.Join(home, "hosts.yml"), []byte(tt.hosts), 0o600))
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInProcessOfItsOwn$")
			cmd.Env = append(tt.env, "MERGEXO_TEST_VIEWER=1", "HOME="+home, "GH_CONFIG_DIR="+home, "GH_PATH="+filepath.Join(home, "no-gh"), "GOCOVERDIR="+home)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "\nhost "+tt.host+", rest alice, graphql alice\n") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
