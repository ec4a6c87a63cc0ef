package github

import "github.com/cli/go-gh/v2/pkg/config"

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
