package env

import (
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A cause says as data what failed and where: the host, the owner or the repository.
func TestCausesAreFailuresOfAPlace(t *testing.T) {
	p := &Env{Config: &config.Config{}}
	of := func(name string, err error) work.Failure {
		repo, parseErr := work.ParseRepoName(name, "github.com")
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		return p.Causes(&Repo{Remote: Remote{Name: repo}}, err)[0].Failure
	}
	sso := func(page string) error { return &transport.Error{Status: 403, SSO: page} }
	same := map[string][2]work.Failure{
		"a login of a host":        {of("octo/app", &transport.Error{Status: 401}), of("acme/lib", &transport.Error{Status: 401})},
		"an owner's other page":    {of("acme/app", sso("https://github.com/x?a=Bc")), of("Acme/lib", sso("https://github.com/x?a=De"))},
		"a text with other digits": {of("octo/app", errors.New("3 of 4")), of("Octo/App", errors.New("4 of 4"))},
	}
	for name, x := range same {
		if x[0] != x[1] {
			t.Errorf("%s: %+v, %+v", name, x[0], x[1])
		}
	}
	other := map[string][2]work.Failure{
		"another host":       {of("octo/app", &transport.Error{Status: 401}), of("ghe.example.org/octo/app", &transport.Error{Status: 401})},
		"another owner":      {of("acme/app", sso("https://x")), of("octo/app", sso("https://x"))},
		"another repository": {of("octo/app", &transport.Error{Status: 404}), of("octo/lib", &transport.Error{Status: 404})},
		"another text":       {of("octo/app", errors.New("no space")), of("octo/app", errors.New("no memory"))},
	}
	for name, x := range other {
		if x[0] == x[1] {
			t.Errorf("%s: %+v", name, x[0])
		}
	}
}
