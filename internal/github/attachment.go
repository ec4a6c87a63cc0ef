package github

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// Attachment is a file that somebody uploaded to a text.
type Attachment struct {
	URL  string
	Repo string // owner/name, which its address names; empty: it names none
}

// Attachments returns the files that people uploaded to a text, each once, in its order. Their addresses have three
// forms: of today, below a repository, and of before; the last one exists on github.com alone.
func Attachments(host, text string) []Attachment {
	form := `https?://` + regexp.QuoteMeta(host) + `/(?:user-attachments/(?:assets/[0-9a-f-]{36}|files/[0-9]+/[\w.%-]+)|([\w.-]+/[\w.-]+)/(?:assets/[0-9]+/[0-9a-f-]{36}|files/[0-9]+/[\w.%-]+))`
	if host == "github.com" {
		form += `|https://user-images\.githubusercontent\.com/[0-9]+/[\w.-]+`
	}
	var all []Attachment
	for _, found := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
		if a := (Attachment{strings.TrimRight(found[0], "."), found[1]}); !slices.Contains(all, a) { // the end of a sentence
			all = append(all, a)
		}
	}
	return all
}

// Attachment reads a file that somebody uploaded, most bytes of it at most. That it cannot be had is a
// *transport.NotStoredError; any other error may be over later.
func (c *Client) Attachment(ctx context.Context, address string, most int64) ([]byte, error) {
	return c.api.Download(ctx, address, most)
}
