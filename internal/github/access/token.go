// Package access finds out what a token and its account may do, by reads alone: the kind
// of the token, its scopes where GitHub tells them, and what it may not read.
package access

import (
	"strings"
	"time"
)

// Kind is what kind of token it is.
type Kind string

// The kinds, as their prefixes tell.
const (
	Classic     Kind = "classic"
	OAuth       Kind = "oauth"        // of gh's own login
	FineGrained Kind = "fine-grained" // with permissions for some repositories
	App         Kind = "app"          // of an installation, or of a person through an app
	Unknown     Kind = ""             // older than prefixes, or of a host of its own kind
)

// KindOf tells a token's kind by how it begins.
func KindOf(token string) Kind {
	for prefix, kind := range map[string]Kind{"ghp_": Classic, "gho_": OAuth, "github_pat_": FineGrained, "ghs_": App, "ghu_": App} {
		if strings.HasPrefix(token, prefix) {
			return kind
		}
	}
	return Unknown
}

// Token is what GitHub tells of the token that it was asked with.
type Token struct {
	Scoped  bool // it tells the scopes: of classic and OAuth tokens
	Scopes  []string
	Expires time.Time // zero: never, or it does not say
}

// expiryForms are how the header writes the moment; which one depends on the host.
var expiryForms = []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700", time.RFC3339}

// expiry reads the header; zero where it says nothing that is understood.
func expiry(header string) time.Time {
	for _, form := range expiryForms {
		if at, err := time.Parse(form, header); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// scopes reads the header, which is there for tokens that have scopes, even without any.
func scopes(header []string) (all []string, told bool) {
	for name := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all, len(header) > 0
}
