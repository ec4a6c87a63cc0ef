package prompts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// nonceOf derives the fences' nonce from the turn key and all text inside the fences: nobody can
// write a text that contains its own nonce.
func nonceOf(c Context) (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("derive the nonce: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "mergexo prompt fence\n%d:%s\n", len(c.Task.TurnKey), c.Task.TurnKey)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))[:20], nil
}

// fencer puts text between fences.
type fencer struct{ nonce string }

// fenceLike matches lines that look like one of our fences.
var fenceLike = lazy.Regexp(`(?im)^([^\n]*?)(-{2,}[ \t]*)(BEGIN|END)([ \t]+DATA)`)

func (f fencer) data(label, text string) string {
	text = strings.ReplaceAll(text, f.nonce, "[nonce]")
	text = fenceLike().ReplaceAllString(text, `$1$2\$3$4`)
	return "-----BEGIN DATA " + f.nonce + " (" + label + ")\n" + strings.Trim(text, "\n") + "\n-----END DATA " + f.nonce
}

// optional is data, but returns nothing for an empty text.
func (f fencer) optional(label, text string) string {
	if text == "" {
		return ""
	}
	return f.data(label, text)
}
