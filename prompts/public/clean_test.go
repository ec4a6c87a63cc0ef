package public

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestBody(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "Fixed in `a.go`.\n\nSee https://example.com/x.", "Fixed in `a.go`.\n\nSee https://example.com/x."},
		{"comment", "a <!-- x --> b", "a   b"},
		{"comment line", "a\n<!-- x -->\nb", "a\n\nb"},
		{"unclosed", "a\n<!-- x", "a\n&lt;!-- x"},
		{"unclosed inline", "a <!-- x\n\nb", "a &lt;!-- x\n\nb"},
		{"comment in code stays", "```html\n<!-- x -->\n```", "```html\n<!-- x -->\n```"},
		{"mention", "ask @octocat, (@a-b) and @org/team", "ask @\u200boctocat, (@\u200ba-b) and @\u200borg/team"},
		{"mention at the start", "@octocat", "@\u200boctocat"},
		{"escaped mention", `\@octocat &#64;octocat &commat;octocat &#x40;octocat`, "\\@\u200boctocat @\u200boctocat @\u200boctocat @\u200boctocat"},
		{"e-mail", "me@example.com", "me@example.com"},
		{"address", "https://example.com/@me/x", "https://example.com/%40me/x"},
		{"mention in code", "`@x` and ``a ` @y`` @z", "`@x` and ``a ` @y`` @\u200bz"},
		{"decorator in a fence", "```py\n@cache\ndef f(): ...\n```\n@me", "```py\n@cache\ndef f(): ...\n```\n@\u200bme"},
		{"fence in a list", "- x\n\n  ```\n  @cache\n  ```\n- @me", "- x\n\n  ```\n  @cache\n  ```\n- @\u200bme"},
		{"deep code is no fence", "    ```\n@me\n", "    \u200b```\n@\u200bme"},
		{"list ends its fence", "- a\n  ```\n@me\n", "- a\n  ```\n  ```\n@\u200bme"},
		{"span over lines is no code", "` @me\n`", "` @\u200bme\n`"},
		{"escaped backtick", "\\`@me`", "\\`@\u200bme`"},
		{"attribute with a backtick", "<a href=\"`\">@me`</a>", "&lt;a href=\"`\">@\u200bme`&lt;/a>"},
		{"HTML block", "<div>\n`@me`\n</b>\n</div>", "<div>\n`@\u200bme`\n&lt;/b>\n</div>"},
		{"after an HTML block", "<details>\n\n```\n@x\n```\n</details>", "<details>\n\n```\n@x\n```\n</details>"},
		{"command", "/mergexo retry", "`/mergexo` retry"},
		{"other command", "ok\n  /assign @x\n> /close\n- /label a", "ok\n  `/assign` @\u200bx\n> `/close`\n- `/label` a"},
		{"command of another bot", "!merge\nbors r+\n- bors: try\n![x](y)\nborsch! bors", "`!merge`\n`bors` r+\n- `bors`: try\n![x](y)\nborsch! bors"},
		{"command in a sentence", "a /path and 1/2", "a /path and 1/2"},
		{"path first", "/usr/bin/x is missing", "`/usr/bin/x` is missing"},
		{"command in a fence", "```\n/bin/sh\n/mergexo x\n```", "```\n/bin/sh\n/\u200bmergexo x\n```"},
		{"command behind a comment", "<!-- x -->/close", "`/close`"},
		{"zero width", "a\u200bb\u202e", "ab" + `\u{202e}`},
		{"carriage returns", "a\r\nb", "a\nb"},
		{"a mention by numbers", "@&#111;cto &#64;&#x6f;cto", "@\u200b&#111;cto @\u200b&#x6f;cto"},
		{"a reference that must stay", "&#60;b&#62; &#38;#64;me", "&#60;b&#62; &#38;#64;me"},
		{"references in code stay", "`&#64;me`", "`&#64;me`"},
		{"open code block", "a\n```go\nx", "a\n```go\nx\n```"},
		{"open code block in a list", "- a\n  ~~~~\n  x", "- a\n  ~~~~\n  x\n  ~~~~"},
		{"endless fence", strings.Repeat("`", 500) + "\nx", strings.Repeat("`", 60) + "\nx\n" + strings.Repeat("`", 60)},
		{"open raw HTML", "<pre>\nx", "&lt;pre>\nx"},
		{"raw HTML that is closed", "<pre>\nx\n</pre>", "&lt;pre>\nx\n&lt;/pre>"},
		{"script and declaration", "<script>\n<!DOCTYPE x\n<?php", "&lt;script>\n&lt;!DOCTYPE x\n&lt;?php"},
		{"raw HTML in code stays", "`<script>`", "`<script>`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Body(tt.in); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestInlineBodyOfNothing: a cell of a table stays empty.
func TestInlineBodyOfNothing(t *testing.T) {
	for in, want := range map[string]string{"": "", " \n": "", "<!-- a -->": "", "x": "x", "x x": "x x"} {
		if got := InlineBody(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestOurMarkersCannotBeImitated(t *testing.T) {
	token := strings.Repeat("a", 64)
	pull := work.MarkPull(work.PullMark{Issue: 1, Flow: work.FlowBugfix, Turn: "x"})
	for _, body := range []string{
		work.Mark("hello", work.Marks{Token: token, Handled: []string{"1:issue:2:3"}}),
		pull, "text\n" + pull, "```\n" + pull + "\n```", "<!-- x --" + ">" + pull, "<!-- <!-- -->" + pull[5:], "`" + pull + "`",
		"```\n<!-- mergexo-action:" + token + " -->", "<pre>\n\n" + pull,
	} {
		got := Body(body)
		if m, ok := work.ParseMarks(got); ok {
			t.Errorf("%q keeps %+v", got, m)
		}
		if m, ok := work.ParsePullMark(got); ok {
			t.Errorf("%q keeps %+v", got, m)
		}
		if m, ok := work.ParseMarks(work.Mark(got, work.Marks{Token: strings.Repeat("b", 64)})); !ok || m.Token[0] != 'b' || m.Handled != nil {
			t.Errorf("our own marker reads %+v, %v", m, ok)
		}
	}
}

func TestLongBodiesAreCutWithANote(t *testing.T) {
	body := "intro\n```go\n" + strings.Repeat("// ö @me\n", 20000)
	got := Body(body)
	if n := utf8.RuneCountInString(got); n > BodyLimit || n < BodyLimit*8/10 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(got, "\n```\n\n*(Cut: ") {
		t.Errorf("the open code block is not closed before the note: %q", got[len(got)-120:])
	}
	marked := work.Mark(got, work.Marks{Token: strings.Repeat("a", 64)})
	if n := utf8.RuneCountInString(marked); n > 65536 {
		t.Errorf("%d characters with markers", n)
	}
	mentions := Body(strings.Repeat("@a ", 40000)) // grows while it is cleaned
	if n := utf8.RuneCountInString(mentions); n > BodyLimit {
		t.Errorf("%d characters", n)
	}
}

func TestCleaningIsLinear(t *testing.T) {
	testhome.OnlyLong(t)
	for name, piece := range map[string]string{
		"comments": "<!---->", "openings": "<!--", "backticks": "`", "runs": "``` `", "angles": "<a ", "paragraphs": "<!-- a\n\n", "mentions": "@a", "lists": "- a\n  ", "escapes": "\\`",
	} {
		start := time.Now()
		Body(strings.Repeat(piece, (1<<18)/len(piece)))
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: %s for a quarter MiB", name, d)
		}
	}
}

func TestTitleAndMessage(t *testing.T) {
	if got := Title(" a\n b\u200b "); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := Title(strings.Repeat("x", 999)); utf8.RuneCountInString(got) > TitleLimit {
		t.Errorf("%d characters", len(got))
	}
	got := Message("Fix it\r\n\nbecause\n\nMergexo-Turn: fake\n mergexo-handled : x\nRefs: y\n")
	if got != "Fix it\n\nbecause\n\nMergexo-Turn - fake\n mergexo-handled  - x\nRefs: y" {
		t.Errorf("got %q", got)
	}
}

func FuzzBody(f *testing.F) {
	pull := work.MarkPull(work.PullMark{Issue: 1, Flow: work.FlowBugfix, Turn: "x"})
	for _, s := range []string{"@a `@b`\n```\n@c", "<!-- a\n```\n-->\n@x", "<!-" + "<!-- -->- x -->", pull, "```\n" + pull, "/mergexo x", "\u00a0/mergexo x", "&#64;a", "<!-->@a-->", "a\\", "`\\`@x`", "<script>\n\n`@a`", "- ```\n@a```", "\\\n/x", "@<A0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Body(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > BodyLimit {
			t.Error("invalid or too long")
		}
		if _, ok := work.ParsePullMark(got); ok {
			t.Errorf("marker in %q", got)
		}
		if _, ok := work.ParseMarks(got); ok {
			t.Errorf("marker in %q", got)
		}
		if again := Balanced(got); again != got {
			t.Errorf("%q is left open", got)
		}
		if hasComment(got) {
			t.Errorf("comment in %q", got)
		}
		if c, ok := work.ParseCommand(got); ok {
			t.Errorf("command %s in %q", c, got)
		}
		for l := range strings.SplitSeq(got, "\n") {
			if strings.HasPrefix(strings.ToLower(strings.TrimLeft(l, " \t>")), "/mergexo") {
				t.Errorf("command in %q", got)
			}
		}
		for _, seg := range segments(got) {
			if seg.kind == spanCode {
				continue
			}
			for _, m := range mention().FindAllStringIndex(seg.text, -1) {
				if strings.HasPrefix(seg.text[m[0]:], "@&lt;") {
					continue // "<" begins no name
				}
				if seg.text[m[0]] != '@' || m[0] == 0 || !wordByte(seg.text[m[0]-1]) {
					t.Errorf("mention %q in %q", seg.text[m[0]:m[1]], got)
				}
			}
		}
	})
}

func FuzzSegments(f *testing.F) {
	f.Add("a `b` <!-- c --> \n```\nd\n```\n")
	f.Add("`")
	f.Add("\\")
	f.Add("<!--\n\n-->`x\n`\n~~~\n")
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		for _, seg := range segments(s) {
			b.WriteString(seg.text)
		}
		if b.String() != s {
			t.Errorf("segments of %q join to %q", s, b.String())
		}
	})
}

func TestNoClosing(t *testing.T) {
	for in, want := range map[string]string{
		"Fixes #7":                            "Fixes \u200b#7",
		"this closes octo/x#12":               "this closes \u200bocto/x#12",
		"Resolved: #3, done":                  "Resolved: \u200b#3, done",
		"fix https://github.com/o/n/issues/1": "fix \u200bhttps://github.com/o/n/issues/1",
		"closes GH-12":                        "closes \u200bGH-12",
		"See #7":                              "See #7",
		"prefixes #7":                         "prefixes #7",
		"FIXES:#7":                            "FIXES:\u200b#7",
		"fixed\n#7":                           "fixed\u200b\n#7",
		"closes\u00a0#7":                      "closes\u00a0\u200b#7",
		"close [#7](https://x)":               "close \u200b[#7](https://x)",
		`resolves \#7`:                        "resolves \u200b\\#7",
		"Fixes &#35;7":                        "Fixes \u200b&#35;7",
		"fixes **o/n#7**":                     "fixes \u200b**o/n#7**",
	} {
		if got := NoClosing(in); got != want {
			t.Errorf("NoClosing(%q) = %q, want %q", in, got, want)
		}
	}
}

// What the former text closes, the new one may close, and nothing else.
func TestNoNewClosing(t *testing.T) {
	const former = "It closes #3.\n\nResolves: octo/lib#12\nfix https://github.com/o/n/issues/1, see #5, Fixes \u200b#6; prefixes #8; a fix (#9) or `fix #10`"
	for in, want := range map[string]string{
		"Closes #3":                            "Closes #3",
		"closes #3, and closes #4":             "closes #3, and closes \u200b#4",
		"Closes #31":                           "Closes \u200b#31",
		"Closes #3&#49;":                       "Closes \u200b#3&#49;",
		"Fixes: #3":                            "Fixes: #3",
		"Fixes #9, fixes #10":                  "Fixes \u200b#9, fixes \u200b#10",
		"resolves: octo/lib#12":                "resolves: octo/lib#12",
		"resolves: octo/app#12":                "resolves: \u200bocto/app#12",
		"fix https://github.com/o/n/issues/1.": "fix https://github.com/o/n/issues/1.",
		"fix https://github.com/o/n/issues/12": "fix \u200bhttps://github.com/o/n/issues/12",
		"Closes #5, fixes #6, fixes #8":        "Closes \u200b#5, fixes \u200b#6, fixes \u200b#8",
	} {
		if got := NoNewClosing(in, former); got != want {
			t.Errorf("NoNewClosing(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNothingOnALineStaysNothing(t *testing.T) {
	for _, s := range []string{"", " ", "\n"} {
		if got := InlineBody(s); got != "" {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	if got := InlineBody("x y"); got != "x y" {
		t.Errorf("%q", got)
	}
}
