package github

import (
	"context"
	"fmt"
	"regexp"
	"slices"
)

// Attachments returns the addresses of the files that people uploaded to a text, each once, in its order. There are
// three forms: of today, below a repository, and of before; the last one exists on github.com alone.
func Attachments(host, text string) []string {
	form := `https?://` + regexp.QuoteMeta(host) + `/(?:user-attachments/(?:assets/[0-9a-f-]{36}|files/[0-9]+/[\w.%-]+)|[\w.-]+/[\w.-]+/assets/[0-9]+/[0-9a-f-]{36})`
	if host == "github.com" {
		form += `|https://user-images\.githubusercontent\.com/[0-9]+/[\w.-]+`
	}
	var all []string
	for _, address := range regexp.MustCompile(form).FindAllString(text, -1) {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// Attachment reads a file that somebody uploaded, most bytes of it at most. Its errors are for people.
func (c *Client) Attachment(ctx context.Context, address string, most int64) ([]byte, error) {
	content, err := c.api.Download(ctx, address, most)
	if err != nil {
		return nil, fmt.Errorf("read an attachment: %w", err)
	}
	return content, nil
}
