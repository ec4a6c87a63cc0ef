package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

func TestPathsFollowXDG(t *testing.T) {
	tests := []struct {
		name         string
		vars         []string
		config, data string
	}{
		{"home", []string{"HOME=/h"}, "/h/.config/mergexo/config.toml", "/h/.local/share/mergexo"},
		{"xdg", []string{"HOME=/h", "XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d"}, "/c/mergexo/config.toml", "/d/mergexo"},
		{"relative xdg is ignored", []string{"HOME=/h", "XDG_CONFIG_HOME=c", "XDG_DATA_HOME=d"}, "/h/.config/mergexo/config.toml", "/h/.local/share/mergexo"},
		{"named", []string{"HOME=/h", "MERGEXO_CONFIG=/x.toml"}, "/x.toml", "/h/.local/share/mergexo"},
		{"nothing", nil, "", ""},
		{"relative home", []string{"HOME=h"}, "", ""},
		{"the last one counts", []string{"HOME=/a", "HOME=/b"}, "/b/.config/mergexo/config.toml", "/b/.local/share/mergexo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := environ.Of(tt.vars)
			if e.ConfigPath != tt.config || e.DataDir != tt.data {
				t.Errorf("got %q, %q", e.ConfigPath, e.DataDir)
			}
		})
	}
}

func TestFlagsOfTheEnvironment(t *testing.T) {
	e := environ.Of([]string{"NO_COLOR=1", "CI=true", "PATH=/p", "EMPTY="})
	if !e.NoColor || !e.CI || e.Path != "/p" {
		t.Errorf("got %+v", e)
	}
	if v, ok := e.Lookup("EMPTY"); v != "" || !ok {
		t.Errorf("EMPTY: %q, %v", v, ok)
	}
	if e := environ.Of([]string{"NO_COLOR=", "CI=false"}); e.NoColor || e.CI {
		t.Errorf("got %+v", e)
	}
}

func TestRealEnvironmentKnowsAHome(t *testing.T) {
	t.Setenv("HOME", "")
	e := environ.Read()
	if e.Home == "" || e.ConfigPath == "" {
		t.Skip("the user database knows no home folder here")
	}
	if !slices.Contains(e.Agent(nil), "HOME="+e.Home) && !slices.Contains(e.Git(), "HOME="+e.Home) {
		t.Error("the home folder that was found is not passed on")
	}
}

// dirty is an environment with everything that must not leak.
var dirty = []string{
	"PATH=/usr/bin", "HOME=/h", "LANG=C.UTF-8", "LC_TIME=C", "TMPDIR=/t", "PLAIN=1", "MY_KEY=k",
	"GH_TOKEN=canary", "GITHUB_TOKEN=canary", "GH_ENTERPRISE_TOKEN=canary", "SSH_AUTH_SOCK=canary", "SSH_ASKPASS=canary",
	"GIT_ASKPASS=canary", "GIT_SSH_COMMAND=canary", "GIT_CONFIG_PARAMETERS=canary", "GIT_DIR=canary", "OPENAI_API_KEY=canary",
	"AWS_SECRET_ACCESS_KEY=canary", "DBUS_SESSION_BUS_ADDRESS=canary", "MERGEXO_CONFIG=canary", "LD_PRELOAD=canary",
}

func TestAgentSeesAnAllowList(t *testing.T) {
	got := environ.Of(dirty).Agent([]string{"MY_KEY", "GH_TOKEN", "SSH_AUTH_SOCK", "GIT_ASKPASS", "ABSENT"})
	want := []string{"HOME=/h", "LANG=C.UTF-8", "LC_TIME=C", "MY_KEY=k", "PATH=/usr/bin", "TMPDIR=/t"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestOurGitKeepsTheOperatorsSetUp(t *testing.T) {
	got := environ.Of(append(dirty, "GIT_TRACE_CURL=1", "GIT_INDEX_FILE=x", "GIT_AUTHOR_NAME=x", "GIT_TERMINAL_PROMPT=1")).Git()
	for _, want := range []string{"SSH_AUTH_SOCK=canary", "GIT_ASKPASS=canary", "GIT_SSH_COMMAND=canary", "HOME=/h", "GIT_TERMINAL_PROMPT=0"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range []string{"GIT_DIR", "GIT_CONFIG_PARAMETERS", "GIT_TRACE_CURL", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME", "GIT_TERMINAL_PROMPT=1"} {
		if slices.ContainsFunc(got, func(v string) bool { return strings.HasPrefix(v, name) && v != "GIT_TERMINAL_PROMPT=0" }) {
			t.Errorf("%s is there", name)
		}
	}
}
