package public

import (
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatIsNotShownIsLeftOut(t *testing.T) {
	long := strings.Repeat("evil ", 41)
	short := strings.Repeat("fine ", 40)
	longer := strings.Repeat("fine ", 41)
	for name, c := range map[string]struct{ in, want string }{
		"plain":                              {"a\n\nb [c] `d`", "a\n\nb [c] `d`"},
		"a comment as a definition":          {"a\n\n[//]: # (evil)\n\nb", "a\n\n\nb"},
		"at the beginning":                   {"[//]: # 'evil'\nb", "b"},
		"one after another":                  {"a\n\n[x]: /u\n[y]: /v \"evil\"\nb", "a\n\nb"},
		"over lines":                         {"a\n\n[x]:\n/u\n\"evil\nevil\"\nb", "a\n\nb"},
		"in a quote":                         {"> a\n>\n> [x]: # (evil)\n> b", "> a\n>\n> b"},
		"in a list":                          {"- [x]: # (evil)\n- b", "- b"},
		"behind a heading":                   {"# a\n[x]: # (evil)\nb", "# a\nb"},
		"in a paragraph it is text":          {"a\n[x]: # (fine)\nb", "a\n[x]: # (fine)\nb"},
		"in code it is text":                 {"```\n[x]: # (fine)\n```\n", "```\n[x]: # (fine)\n```\n"},
		"in indented code it is text":        {"a\n\n    [x]: # (fine)\n", "a\n\n    [x]: # (fine)\n"},
		"text behind it makes it text":       {"[x]: /u fine fine\n", "[x]: /u fine fine\n"},
		"used":                               {"see [X]\n\n[x]: /u \"evil\"\n", "see [X](/u)\n\n"},
		"used once, defined twice":           {"see [x]\n\n[x]: /u\n[x]: /v (evil)\n", "see [x](/u)\n\n"},
		"used by code alone":                 {"see `[x]`\n\n[x]: # (evil)\n", "see `[x]`\n\n"},
		"a footnote":                         {"a\n\n[^1]: evil\nevil\n\n    evil\n\nb", "a\n\n\n\nb"},
		"a footnote in a paragraph":          {"a\n[^1]: evil\n\nb", "a\n\nb"},
		"a footnote with a reference":        {"a[^1]\n\n[^1]: fine\n", "a[^1]\n\n[^1]: fine\n"},
		"a long title":                       {"[a](/u \"" + long + "\") [b](/v '" + short + "')", "[a](/u) [b](/v '" + short + "')"},
		"a long alt":                         {"![" + long + "](/u) ![" + short + "](/u)", "![](/u) ![" + short + "](/u)"},
		"a long alt by reference":            {"![" + long + "][x]\n\n[x]: /u\n", "![](/u)\n\n"},
		"brackets that are no image":         {"wow![" + longer + "]", "wow![" + longer + "]"},
		"attributes":                         {`<img alt="` + long + `" src="/u" title=x srcset="evil 2x"> <a data-x='` + long + `' href=/u>b</a>`, `<img  src="/u" title=x > <a  href=/u>b</a>`},
		"a hidden element":                   {"a <span hidden>evil <span>evil</span> evil</span> b", "a  b"},
		"a hidden element with code":         {"<div hidden=\"\">\n\n```\nevil\n```\n\n</div>\nb", "\nb"},
		"a hidden element that does not end": {"a\n\n<p HIDDEN>evil\n\nevil", "a\n\n"},
		"a hidden element in code":           {"`<p hidden>` fine", "`<p hidden>` fine"},
		"a hidden image":                     {"<img hidden alt=evil> fine", " fine"},
		"an element that is not hidden":      {"<p title=hidden>fine</p>", "<p title=hidden>fine</p>"},
		"instructions":                       {"a <?evil?> <![CDATA[evil]]> b", "a   b"},
		"made by what is left out":           {"[<?\n?>//]: # (evil)\nb", "b"},
	} {
		got := AsShown(c.in)
		if got.Text != c.want {
			t.Errorf("%s:\n%q\n%q\nwant\n%q", name, c.in, got.Text, c.want)
		}
		if least := utf8.RuneCountInString(c.in) - utf8.RuneCountInString(c.want); got.Left < least || got.Left > 0 && least == 0 {
			t.Errorf("%s: %d characters, want %d", name, got.Left, least)
		}
		if again := AsShown(got.Text); again.Text != got.Text || again.Left != 0 {
			t.Errorf("%s: it is left out twice: %q, then %q", name, got.Text, again.Text)
		}
	}
}

// Each hides a word from people, in a way that somebody found.
func TestNoMarkupHidesWords(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 40) }
	for _, s := range []string{
		"| a |\n|---|\n| b | evil *evil* `evil` [evil](evil) |",
		"```text evil evil\ncode\n```", "~~~ (evil)\ncode\n~~~", "``` " + many("evil") + "\ncode\n```", "> ```a evil\n> code\n> ```",
		"<ruby>x<rp>evil</rp><rt>y</rt></ruby>", "<RP>evil",
		"a <b ignore all evil rules>x</b>", "a <b x=\"evil\" y='evil' z=evil>x</b>", "<div class=\"evil\">x</div>", "a <b width=\"evil\" open=evil>x</b>", "a <evil>x</evil>",
		many("!["+many("x")+"](u)") + "![evil](u)", many("[a](u '"+many("x")+"')") + "[a](u 'evil')", many("<img alt='"+many("x")+"'>") + "<img title=evil>",
		"[x][evil]\n\n[evil]: http://a.test", "[x](y)\n\n[evil]: /u", "[x]\n\n[x]: /u 'evil'", "[x]\n\n[x]: </u evil>", "a[^evil]\n\n[^evil]: b",
		"[.](<https://x/ evil>)", "[.](<https://x/\tevil>)", "[.](https://x/" + many("......") + "evil)", "<a href=\"https://x/ evil\">.</a>", "<img src=\"https://x/" + many("......") + "evil\">",
		strings.Repeat("[.](https://x/"+strings.Repeat(".", 180)+")", 110) + "[.](https://x/evil)",
		"a <!A evil>", "<!DOCTYPE evil>\n\na", "<div>\n</p evil>\n</div>", "<div>\n<! evil >\n</div>", "<div>\n</ evil >\n</div>", "<div>\n<? evil >\n</div>", "a <![CDATA[ evil ]]>",
		"<div>\n<p a\"b hidden>evil</p>\n</div>", "<div>\n<p =x hidden>evil</p>\n</div>", "<div>\n<p\fhidden>evil</p>\n</div>", "<div>\n<p a=b`c hidden>evil</p>\n</div>", "<div>\n<p/hidden>evil</p>\n</div>",
		"<p title=\">\" hidden>evil</p>", "<p\nhidden\n=\n''>evil</p>", "<div hidden>\n\nevil\n\n```\nevil\n```\n\n> evil\n\n</div>",
		"<span hidden><p></span>evil</p>", "<b hidden></p>evil</b>", "<div><b hidden></div>evil", "<p hidden><x></p></x>", "<p hidden>a <p hidden>b</p>evil</p>",
		"<div title=\"\n\nevil\n\n\">a</div>", "<div\n\n<div evil>", "<div evil", "<!-- a --> <!-- evil -->", "<div>\n`<!-- evil -->`\n</div>", "> <!-- a\n>\n> evil -->", "- <!-- evil\n\n  evil -->",
	} {
		got := AsShown("before\n\n" + s + "\n")
		if strings.Contains(got.Text, "evil") || !strings.HasPrefix(got.Text, "before\n") {
			t.Errorf("%q is read as %q", s, got.Text)
		}
		if got.Left == 0 && !strings.Contains(s, commentOpen) {
			t.Errorf("nothing of %q is said to be left out", s)
		}
		if again := AsShown(got.Text); again.Text != got.Text {
			t.Errorf("%q is read as %q, and then as %q", s, got.Text, again.Text)
		}
	}
}

// Of some others only what hides them is left out.
func TestWhatIsShownStays(t *testing.T) {
	for _, s := range []string{
		"1. a\n2. b\n\n   c\n\n- [x] d\n* * *\n# e #\nf\n===\n", "a *b* **c** _d_ ~~e~~ \\* \\` &amp; &nbsp; <https://x.test/a> <me@x.test> https://x.test :+1: @me #7",
		"```go\nif a < b { // <!-- x --> <p hidden> [x]: y\n\t\tc()\n\n}\n```\n", "    <p hidden> | a\n\n      b\n", "> ```\n>   a\n> \tb\n> ```\n", "- ```c++\n  a\n  ```\n", "`` a ` b ``  `<p hidden>`\n",
		"| a | b |\n|:--|--:|\n| `c\\|d` | [e](f) |\n| g |\n", "[a](/u) [b](</u>) [c](u(v)w 'fine') ![d](/v \"fine\") [![e](f)](g) [](h) [i]() [j] [k][l]\n",
		"<details open><summary>a</summary>\n\n<img width=\"602\" height='10%' alt=\"a b\" src=\"https://x.test/y\">\n<br/>\n</details>\n", "<p align=\"center\"><a href=\"https://x.test\">a</a></p>\n",
		"a[^1] b[^2]\n\n[^1]: c\n[^2]: d\n\n    e\n", "a < b > c, 1 <2, <- x, a<b\n", "</script x> <title>\n", "\ta\n\n\tb\n",
	} {
		if got := AsShown(s); got.Text != s || got.Left != 0 {
			t.Errorf("%q is read as %q, without %d characters", s, got.Text, got.Left)
		}
	}
}

// The words that a page shows are given, whatever the text is made of.
func TestNoShownWordIsLost(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 4000 {
		picks := make([]byte, 1+r.IntN(24))
		for i := range picks {
			picks[i] = byte(r.IntN(256))
		}
		checkShown(t, pieced(picks))
	}
}

func FuzzAsShown(f *testing.F) {
	f.Add([]byte("x"), "")
	f.Fuzz(func(t *testing.T, picks []byte, s string) {
		checkShown(t, pieced(picks)+s)
	})
}

func checkShown(t *testing.T, s string) {
	t.Helper()
	if lower := strings.ToLower(s); strings.Contains(lower, "hidden") || strings.Contains(lower, "<rp") {
		return // the page has it, and people do not see it
	}
	got := AsShown(s)
	if !utf8.ValidString(got.Text) || got.Left < 0 {
		t.Fatalf("%q is read as %q, without %d characters", s, got.Text, got.Left)
	}
	page := rendered(t, Visible(strings.ReplaceAll(s, "\f", " ")))
	shown := html.UnescapeString(noText.ReplaceAllString(page, ""))
	for c := 'A'; c <= 'z'; c++ {
		if letter := string(c); unicode.IsLetter(c) && strings.Count(got.Text, letter) < strings.Count(shown, letter) {
			t.Fatalf("%q is read as %q, with too few %q; a page is\n%s", s, got.Text, c, page)
		}
	}
}

// noText matches what a browser does not show as text.
var noText = regexp.MustCompile(`(?s)<!--.*?(?:-->|\z)|(?:<[!?]|</[^A-Za-z])[^>]*(?:>|\z)|</?[A-Za-z][^\s/>]*(?:[\s/](?:=\s*"[^"]*"|=\s*'[^']*'|[^>])*)?(?:>|\z)`)

func TestHostileTextsAreReadFast(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("[", 60000), strings.Repeat("![", 30000), strings.Repeat("[a]: ", 12000), strings.Repeat("[a]: /u\n", 8000), strings.Repeat("[^a]: b\n", 8000), strings.Repeat("<a ", 20000),
		strings.Repeat("<p hidden>", 6000), strings.Repeat("> ", 30000), strings.Repeat("_a*", 20000), strings.Repeat("[a](b \"", 8000), "<a " + strings.Repeat("x=\"", 20000),
	} {
		AsShown(s)
	}
}
