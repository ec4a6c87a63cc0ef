package transport

import (
	"net/url"
	"testing"
	"time"
)

// Files are read from the host and from GitHub's own storages, and from nowhere else.
func TestWhereFilesMayLie(t *testing.T) {
	for _, c := range []struct {
		host, address string
		want          bool
	}{
		{"github.com", "https://github.com/user-attachments/assets/1", true},
		{"github.com", "https://private-user-images.githubusercontent.com/1/2.png?jwt=x", true},
		{"github.com", "https://github-production-user-asset-6210df.s3.amazonaws.com/1", true},
		{"github.com", "https://evil.s3.amazonaws.com/1", false},
		{"github.com", "https://github-production-x.evil.s3.amazonaws.com/1", false},
		{"github.com", "https://githubusercontent.com.evil.example/1", false},
		{"github.com", "https://evilgithub.com/1", false},
		{"github.com", "http://github.com/1", false},
		{"github.com", "https://github.com:8443/1", false},
		{"github.com", "https://u:p@github.com/1", false},
		{"github.com", "https://127.0.0.1/1", false},
		{"github.com", "https://169.254.169.254/latest", false},
		{"github.com", "file:///etc/passwd", false},
		{"ghe.example.com", "https://media.ghe.example.com/1", true},
		{"ghe.example.com", "https://x.githubusercontent.com/1", false},
		{"ghe.example.com", "https://example.com/1", false},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		client := Refusing(c.host, time.Now, nil)
		if got := client.stores(u); got != c.want {
			t.Errorf("%s: %s: %v", c.host, c.address, got)
		}
	}
}
