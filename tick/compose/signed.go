package compose

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// signed marks what an agent wrote, with the line below it.
func (c *composer) signed(text string, m work.Marks) string {
	return prompts.Bounded(text, c.l.Disclosure, m)
}

// unsigned is the text of a body that signed made.
func (c *composer) unsigned(body string, m work.Marks) string {
	text := strings.TrimSuffix(body, work.Mark("", m))
	if c.l.Disclosure != "" {
		text = strings.TrimSuffix(text, "\n\n"+c.l.Disclosure)
	}
	return text
}
