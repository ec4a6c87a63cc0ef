package github

import (
	"strings"

	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
)

// KnownAccounts are the accounts that gh is logged in with on a host, by its files; nil
// where those do not say: an old gh has one account, and a variable's token has no name.
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

// LoggedIn is the account as whom gh speaks to a host, by its files; empty where those do
// not say, or where a variable has the token.
func LoggedIn(host string) string {
	if _, source := auth.TokenFromEnvOrConfig(host); strings.HasSuffix(source, "_TOKEN") {
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

// TokenSource is where gh has a host's token from: a variable's name, "oauth_token" for
// its own file, "gh" for its keyring.
func TokenSource(host string) string {
	_, source := auth.TokenForHost(host)
	return source
}
