package github

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// Attachments returns the addresses of the files that people uploaded to a text, each once, in its order. There are
// three forms: of today, below a repository, and of before; the last one exists on github.com alone.
func Attachments(host, text string) []string {
	form := `https?://` + regexp.QuoteMeta(host) + `/(?:user-attachments/(?:assets/[0-9a-f-]{36}|files/[0-9]+/[\w.%-]+)|[\w.-]+/[\w.-]+/(?:assets/[0-9]+/[0-9a-f-]{36}|files/[0-9]+/[\w.%-]+))`
	if host == "github.com" {
		form += `|https://user-images\.githubusercontent\.com/[0-9]+/[\w.-]+`
	}
	var all []string
	for _, address := range regexp.MustCompile(form).FindAllString(text, -1) {
		if address = strings.TrimRight(address, "."); !slices.Contains(all, address) { // the end of a sentence
			all = append(all, address)
		}
	}
	return all
}

// Attachment reads a file that somebody uploaded, most bytes of it at most. That it cannot be had is a
// *transport.NotStoredError; any other error may be over later.
func (c *Client) Attachment(ctx context.Context, address string, most int64) ([]byte, error) {
	return c.api.Download(ctx, address, most)
}
