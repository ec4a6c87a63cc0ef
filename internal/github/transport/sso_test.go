package transport

import (
	"net/http"
	"testing"
)

// TestMissingSSO: only a header that requires an authorization has the link of one.
func TestMissingSSO(t *testing.T) {
	for header, want := range map[string]string{
		"": "",
		"required; url=https://github.com/orgs/octo/sso?authorization_request=A": "https://github.com/orgs/octo/sso?authorization_request=A",
		"partial-results; organizations=21955855,20582480":                       "",
		"required":                   "",
		"required; url=javascript:x": "",
	} {
		if got := missingSSO(http.Header{"X-Github-Sso": {header}}); got != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}
