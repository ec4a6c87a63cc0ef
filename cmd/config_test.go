package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
)

func TestPrintedConfigReadsBackTheSame(t *testing.T) {
	env := config.EnvOf([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")})
	path := filepath.Join(t.TempDir(), "config.toml")
	source := `
[runtime]
workers = 5
agent = "mine"
quiet_period = "0s"
turn_timeout = "90m"
enable_feedback_loop = false
accounts = [7]
sandbox = "none"
[agents.mine]
adapter = "command"
command = ["/bin/agent", "--x \"y\""]
env_pass = ["LANG"]
session = "fresh"
sandbox = "bwrap"
writable = ["/var/agent"]
[[repo]]
name = "octo/app"
allowed_users = ["ann"]
keep_ignored = true
[repo.labels]
bugfix = "bug"
[repo.agents]
design_start = "mine"
[[repo]]
name = "ghe.test/octo/other"
remote_url = "/srv/other.git"
`
	want, err := config.Parse(path, []byte(source), env, "github.com")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := printConfig(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(path, b.Bytes(), env, "github.com")
	if err != nil {
		t.Fatalf("%v in:\n%s", err, &b)
	}
	for i := range want.Repos { // no agents of its own, nil or empty
		if len(want.Repos[i].Agents) == 0 {
			want.Repos[i].Agents = got.Repos[i].Agents
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\nfrom:\n%s", got, want, &b)
	}
}
