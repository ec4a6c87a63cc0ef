package public

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// pieces are what Markdown's structure is made of, and what must have no effect.
var pieces = []string{
	"`", "``", "```", "~~~", "\n", "\n\n", "\n```\n", "\n  ```\n", "\n   ```go\n", "\n    ```\n", "\n     ~~~\n", " ", "    ", "\t", "\n\t", "> ", "\n> ", "\n- ", "\n  - ", "\n1. ",
	"\n14. ", "- ", "2) ", "\n> - ", "\n-     ", "* * *\n", "---\n", "\n---\n", "# ", "\n|a|b|\n|-|-|\n", "\n-\t|-\n", "a|b", "|", "\\", "\\`", "<b>", "</b>", "<code>", "</code>", "<div>", "\n<div>\n", "</div>",
	"<details>", "</details>", "<summary>", "</summary>", "<table><tr><td>", "</td></tr></table>", "<br>", "<a href=\"x\">", "</a>", "<a title=\"`\">", "<code", ">", "<", "<!--", "-->",
	"<pre>", "</pre>", "<script>", "<![CDATA[", "<?", "<!X", "<https://x.y/`>", "<me@x.y>", "[a](", ")", "[", "]", "![", "](b)", "](b \"", "\"", "'", "\n[a]: ", "[^1]", "\n[^1]: ",
	"@acme", " @acme/team ", "&#64;acme", "&copy@acme", "&nbsp;", "Fixes #7", "fixes", " #7", "_", "*", "**", "~~", "&", "#", "x", "y z", ".", "https://x.y/", "www.x.y", "\u00a0", "é", "\u200b",
	"</code\n>", "=\n", "\n    ", "\n      ", "\n   ", "/close ", "\n/mergexo x", "&lt;", ":", "$", "{", "}",
}

// pieced is a text of pieces, one for each byte.
func pieced(picks []byte) string {
	var b strings.Builder
	for _, p := range picks {
		b.WriteString(pieces[int(p)%len(pieces)])
	}
	return b.String()
}

func checkPublic(t *testing.T, in string) {
	t.Helper()
	body := Body(in)
	got := NoClosing(body)
	if why := harm(t, got); why != "" {
		t.Fatalf("%q %s; it is cleaned as\n%s\nand shown as\n%s", in, why, got, rendered(t, got))
	}
	if again := Balanced(body); again != body {
		t.Fatalf("%q is cleaned as\n%q\nand then as\n%q", in, body, again)
	}
}

func TestRandomTextsBecomeHarmless(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	for range 4000 {
		picks := make([]byte, 1+r.IntN(24))
		for i := range picks {
			picks[i] = byte(r.IntN(256))
		}
		checkPublic(t, pieced(picks))
	}
}

// FuzzPublicText holds what becomes public against a CommonMark library.
func FuzzPublicText(f *testing.F) {
	f.Add([]byte("x"), "")
	f.Add([]byte{0, 4, 67}, "`a\n`@acme`")
	f.Fuzz(func(t *testing.T, picks []byte, s string) {
		checkPublic(t, pieced(picks)+s)
	})
}
