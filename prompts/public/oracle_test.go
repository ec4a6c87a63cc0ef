package public

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
)

// node is a text of a rendered page and the elements around it.
type node struct {
	text  string
	block int // texts of one paragraph, cell or heading have the same
	in    []string
}

var (
	pageTag  = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)(?:[\s/](?:"[^"]*"|'[^']*'|[^"'>])*)?>`)
	voidTags = []string{"br", "hr", "img", "wbr", "input", "source"}
	flowTags = []string{"b", "i", "em", "strong", "code", "a", "del", "sub", "sup", "kbd", "span", "ins", "tt", "s", "q", "br", "img", "u", "small", "var", "samp", "mark"}
)

// rendered is what a CommonMark library with GitHub's extensions makes of Markdown.
func rendered(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	if err := md.Convert([]byte(s), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// nodes are the texts of a page, as a browser finds them.
func nodes(page string) (out []node) {
	var open []string
	block := 0
	for page != "" {
		if strings.HasPrefix(page, "<!--") {
			_, page, _ = strings.Cut(page[4:], "-->")
			continue
		}
		m := pageTag.FindStringSubmatch(page)
		if m == nil {
			end := strings.IndexByte(page[1:], '<') + 1
			if end == 0 {
				end = len(page)
			}
			out = append(out, node{html.UnescapeString(page[:end]), block, slices.Clone(open)})
			page = page[end:]
			continue
		}
		name := strings.ToLower(m[1])
		if !slices.Contains(flowTags, name) {
			block++
		}
		switch {
		case m[0][1] != '/':
			if !slices.Contains(voidTags, name) {
				open = append(open, name)
			}
		default:
			if i := slices.Index(reversed(open), name); i >= 0 {
				open = open[:len(open)-1-i]
			}
		}
		page = page[len(m[0]):]
	}
	return out
}

func reversed(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func (n node) quiet() bool {
	return slices.ContainsFunc(n.in, func(e string) bool { return e == "code" || e == "pre" || e == "a" || e == "tt" })
}

var (
	liveMention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]`)
	liveClosing = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)[\s\p{Zs}:]+(?:(?:[\w.-]+/[\w.-]+)?#[0-9]|GH-[0-9]|https?://\S+/(?:issues|pull)/[0-9])`)
)

const tail = "Tail. Fixes #1"

// harm says what GitHub would do for a text that was cleaned; "" is nothing.
func harm(t *testing.T, body string) string {
	t.Helper()
	page := rendered(t, body+"\n\n"+tail)
	texts := map[int]string{}
	found := false
	for _, n := range nodes(page) {
		if n.text == tail && slices.Equal(n.in, []string{"p"}) {
			found = true
			continue
		}
		if n.quiet() {
			texts[n.block] += "\x00"
			continue
		}
		if m := liveMention.FindString(n.text); m != "" {
			return "mentions " + m
		}
		texts[n.block] += n.text
	}
	for _, text := range texts {
		if m := liveClosing.FindString(text); m != "" && !strings.Contains(text, tail) {
			return "closes by " + m
		}
	}
	if !found {
		return "what stands after it is no text of its own"
	}
	return ""
}

// What an agent wrote, as a CommonMark library reads it: nobody is called, no issue is closed, and
// what we put after it is not swallowed.
func TestWhatBecomesPublicHasNoEffect(t *testing.T) {
	for name, in := range map[string]string{
		"a code span that began a line before":   "See `x.\nThanks `@acme/team` for",
		"one that began two lines before":        "`a\nb\n`@acme/team`",
		"a longer run":                           "``a\nb `` `@acme`` c`",
		"a table's cells":                        "| a | b |\n|---|---|\n| `x | @acme |\n| ` | y |",
		"a table's cells on one line":            "a|b|c\n-|-|-\n`x | @acme | `",
		"a table ruled with tabs":                "a|b|c\n-\t|-|-\n`x | @acme | `",
		"a list's fence":                         "- ```\n  x\n  ```\n  @acme",
		"a fence in a quote":                     "> ```\n> x\n> ```\n> @acme\n\n@acme",
		"a fence that is none":                   "14. x\n\n      ```\n@acme",
		"deep fence of no list":                  "The number is\n14. no list\n    ```\n    x\n    ```\n    @acme",
		"thematic break":                         "* * **\n    ```\n@acme",
		"fence in HTML":                          "<div>\n```\n@acme\n```\n</div>",
		"fence after HTML of a line":             "<b>x</b> y\n```\ncode",
		"a tag's backtick":                       "<a title=\"`\">`@acme`",
		"a link's title":                         "[a](x \"`\") ` z ` @acme `",
		"a definition's title":                   "[a]: x '`\n` z ` @acme `",
		"a definition with a line":               "[a]: /x '`'\n` z ` @acme `",
		"letters beyond ASCII":                   "é@acme ß@acme",
		"a character by its name":                "&copy;@acme <div>&copy@acme</div>",
		"references in HTML":                     "<div>\n&#64acme &#64;acme &commat;acme\n</div>",
		"emphasis":                               "*x*@acme _x_@acme ~~x~~@acme",
		"white space that is no blank line":      "` a\n\u00a0\n@acme `b",
		"lazy continuation":                      "> `a\nb ` @acme ` c",
		"setext heading":                         "`a\n---\n` @acme `",
		"closing in emphasis":                    "_Fixes #7_ and __Fixes #7__ and a*fixes #7*",
		"closing by a name":                      "Fixes&nbsp;#7 Fixes&#32;#7 F&#105;xes #7 Fixes &num;7 Fixes&Tab;#7",
		"closing parted by tags":                 "Fi<b>x</b>es #7, fixes <b>#7</b>, Fixes<br>#7",
		"closing parted by emphasis":             "F*ix*es #7, **Fixes** #7, Fixes ~~#7~~",
		"closing behind letters":                 "éfixes #7 (fixes #7) “fixes #7”",
		"closing a link":                         "Fixes <https://github.com/o/r/issues/7> and resolves [#7](x)",
		"unclosed code":                          "<code>",
		"unclosed code in a text":                "a <code> b",
		"unclosed code, its end in code":         "<code> `</code>`",
		"unclosed code, its end in a fence":      "x <code>\n```\n</code>\n```",
		"unclosed code, its end in deep code":    "x <code>\n\n    </code>",
		"unclosed code, its end in a title":      "x <code> [a](b \"</code>\")",
		"unclosed code, its end in an image":     "x <code> ![</code>](b)",
		"unclosed code, its end in an address":   "x <code> [a](</code>)",
		"unclosed code, its end in a definition": "<code>\n\n[a]: </code>",
		"unclosed code, its end in a comment":    "<code> <!-- </code> -->",
		"code that says it is whole":             "<code/>",
		"unclosed details":                       "<details><summary>x</summary>\n\ny",
		"unclosed table":                         "<table><tr><td>\n\nx",
		"details that end in a table":            "<details>\n\n|a|\n|-|\n|</details>|",
		"unclosed link":                          "<a href=\"https://x\">",
		"upper case":                             "<CODE>",
		"over lines":                             "<code\n>",
		"attribute":                              "<code title='>'>x",
		"raw":                                    "<pre>\n<script>\n<textarea>\n<style>\n<xmp>\n<plaintext>\n<title>\n<iframe>\n<noembed>",
		"pre":                                    "<pre>\n\n`@acme`\n```\n</pre>\n@acme",
		"declaration":                            "<!X\n\n<?x\n\n<![CDATA[\n\n@acme",
		"open fence":                             "```\nx",
		"open fence in a list":                   "- a\n  ```\n  x",
		"open fence deep in a list":              "1. a\n   - b\n\n     ```\n     x",
		"a fence that its list ends":             "1. a\n   ```\n   x\nb @acme",
		"a fence whose end stands too far left":  "1. a\n   ```\n   x\n```\n\nb @acme",
		"a link goes on behind a tag":            "https://x.y/</details>` @acme/team \\`",
		"a footnote that ends a block":           "<div>\n\n[^1]: ---\n\n     ~~~\n<me@x.y></div>",
		"a footnote in a block":                  "<div>\n\n</code>\n[^1]: \n     ~~~\n<br></div>",
		"footnote":                               "[^1]: ```\n    @acme\n\nx[^1]\n\n    @acme",
		"quoted fence, code ends there":          "x <code>\n> ```\n> </code>",
	} {
		if got := NoClosing(Body(in)); harm(t, got) != "" {
			t.Errorf("%s: %q %s; it is cleaned as\n%s\nand shown as\n%s", name, in, harm(t, got), got, rendered(t, got))
		}
	}
}

func TestWhatStandsBehindWordsHasNoEffect(t *testing.T) {
	for _, in := range []string{"```\n@acme\n```", "~~~\n@acme\n~~~\n`@acme`", "<div>\n`@acme`", "- `\n` @acme `", "> @acme", "\n\n@acme", "<code>", "`@acme`"} {
		if got := "The agent asks: " + InlineBody(in); harm(t, got) != "" {
			t.Errorf("%q %s; it is cleaned as\n%s", in, harm(t, got), got)
		}
	}
}

// The oracle sees what is not cleaned.
func TestTheOracleSeesHarm(t *testing.T) {
	for _, s := range []string{"@acme", "a @acme/team", "Fixes #7", "_Fixes #7_", "Fixes&nbsp;#7", "<code>", "```", "<!--", "<details>", "`a\n`@acme`"} {
		if harm(t, s) == "" {
			t.Errorf("%q is found harmless", s)
		}
	}
	for _, s := range []string{"`@acme`", "me@acme.example", "```\n@acme\n```", "prefixes #7", "<details>\n\nx\n</details>"} {
		if got := harm(t, s); got != "" {
			t.Errorf("%q %s", s, got)
		}
	}
}
