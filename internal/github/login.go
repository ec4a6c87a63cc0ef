package github

import (
	"fmt"
	"strings"

	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
)

// KnownAccounts returns the accounts that gh is logged in with on a host, from its files. It is nil
// if they do not list them: an old gh has one account, and a token in a variable has no name.
func KnownAccounts(host string) []string {
	cfg, err := config.Read(nil)
	if err != nil {
		return nil
	}
	known, err := cfg.Keys([]string{"hosts", host, "users"})
	if err != nil {
		return nil
	}
	return known
}

// LoggedIn returns the active account of gh on a host, from its files; "" if they do not name it or
// a variable holds the token.
func LoggedIn(host string) string {
	if TokenVariable(host) != "" {
		return ""
	}
	cfg, err := config.Read(nil)
	if err != nil {
		return ""
	}
	login, err := cfg.Get([]string{"hosts", host, "user"})
	if err != nil {
		return ""
	}
	return login
}

// TokenVariable returns the environment variable whose token gh uses on a host, whoever it is logged in as; "": none.
func TokenVariable(host string) string {
	if _, source := auth.TokenFromEnvOrConfig(host); strings.HasSuffix(source, "_TOKEN") {
		return source
	}
	return ""
}

// LogIn tells how to use another login on a host. gh refuses to log in while a variable has the token, which is then
// replaced by one that is described.
func LogIn(host, token string) string {
	login := "gh auth login --hostname " + host
	if v := TokenVariable(host); v != "" {
		return fmt.Sprintf("give %s %s, or unset it and run: %s", v, token, login)
	}
	return login
}

// TokenSource returns where gh has a host's token from: a variable's name, "oauth_token" for its
// own file, "gh" for its keyring.
func TokenSource(host string) string {
	_, source := auth.TokenForHost(host)
	return source
}
