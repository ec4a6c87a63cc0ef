package cli

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestParseRef(t *testing.T) {
	app := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	other := work.RepoName{Host: "ghe.test", Owner: "octo", Name: "other"}
	both := []work.RepoName{app, other}
	for _, c := range []struct {
		in    string
		repos []work.RepoName
		want  Ref
		usage bool // the command line is wrong
		fails bool
	}{
		{in: "octo/app#12", repos: both, want: Ref{app, 12}},
		{in: "Octo/APP#12", repos: both, want: Ref{app, 12}},
		{in: "ghe.test/octo/other#3", repos: both, want: Ref{other, 3}},
		{in: "https://github.com/octo/app/pull/7", repos: both, want: Ref{app, 7}},
		{in: "https://ghe.test/octo/other/issues/7/", repos: both, want: Ref{other, 7}},
		{in: "http://ghe.test:8080/octo/other/pull/7", repos: both, want: Ref{other, 7}},
		{in: "https://github.com/octo/app/pull/7#issuecomment-99", repos: both, want: Ref{app, 7}},
		{in: "https://github.com/octo/app/pull/7/files", repos: both, want: Ref{app, 7}},
		{in: "#12", repos: both[:1], want: Ref{app, 12}},
		{in: "12", repos: both[:1], want: Ref{app, 12}},
		{in: "app#12", repos: both, want: Ref{app, 12}},
		{in: "Other#3", repos: both, want: Ref{other, 3}},
		{in: "app#12", repos: append([]work.RepoName{{Host: "github.com", Owner: "cat", Name: "app"}}, both...), usage: true},
		{in: "12", repos: both, usage: true},
		{in: "12", usage: true},
		{in: "octo/app#0", repos: both, usage: true},
		{in: "octo/app#-3", repos: both, usage: true},
		{in: "octo/app", repos: both, usage: true},
		{in: "octo#3", repos: both, usage: true},
		{in: "https://github.com/octo/app", repos: both, usage: true},
		{in: "https://github.com/octo/app/commit/12", repos: both, usage: true},
		{in: "octo/third#3", repos: both, fails: true},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := parseRef(c.in, "github.com", c.repos)
			_, usage := errors.AsType[*UsageError](err)
			if usage != c.usage || (err != nil) != (c.usage || c.fails) || got != c.want {
				t.Errorf("ParseRef(%q) = %v, %v; want %v, usage error %v, error %v", c.in, got, err, c.want, c.usage, c.fails)
			}
		})
	}
}
