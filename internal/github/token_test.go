package github

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

func TestKindsOfTokens(t *testing.T) {
	for token, want := range map[string]TokenKind{
		"ghp_0123": ClassicToken, "gho_0123": OAuthToken, "github_pat_0123": FineGrainedToken, "ghs_0123": AppToken, "ghu_0123": AppToken, "0123456789abcdef": UnknownToken, "": UnknownToken,
	} {
		if got := TokenKindOf(token); got != want {
			t.Errorf("%s: %q, want %q", token, got, want)
		}
	}
}

func TestScopesAreToldEvenWhenThereAreNone(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		want   []string
		told   bool
	}{
		{http.Header{"X-Oauth-Scopes": {"repo, workflow"}}, []string{"repo", "workflow"}, true},
		{http.Header{"X-Oauth-Scopes": {""}}, nil, true},
		{http.Header{}, nil, false},
	} {
		if got, told := tokenScopes(c.header.Values("X-Oauth-Scopes")); !slices.Equal(got, c.want) || told != c.told {
			t.Errorf("%v: %q, %v", c.header, got, told)
		}
	}
}

func TestExpiry(t *testing.T) {
	want := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for _, header := range []string{"2026-12-01 08:00:00 UTC", "2026-12-01 09:00:00 +0100", "2026-12-01T08:00:00Z"} {
		if got := tokenExpiry(header); !got.Equal(want) {
			t.Errorf("%q: %s", header, got)
		}
	}
	if got := tokenExpiry("soon"); !got.IsZero() {
		t.Errorf("got %s", got)
	}
}
