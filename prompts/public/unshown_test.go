package public

import (
	"strings"
	"testing"
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
		"in a quote":                         {"> a\n>\n> [x]: # (evil)\n> b", "> a\n>\n> > b"},
		"in a list":                          {"- [x]: # (evil)\n- b", "- - b"},
		"behind a heading":                   {"# a\n[x]: # (evil)\nb", "# a\nb"},
		"in a paragraph it is text":          {"a\n[x]: # (fine)\nb", "a\n[x]: # (fine)\nb"},
		"in code it is text":                 {"```\n[x]: # (fine)\n```\n", "```\n[x]: # (fine)\n```\n"},
		"in indented code it is text":        {"a\n\n    [x]: # (fine)\n", "a\n\n    [x]: # (fine)\n"},
		"text behind it makes it text":       {"[x]: /u fine fine\n", "[x]: /u fine fine\n"},
		"used":                               {"see [X]\n\n[x]: /u \"fine\"\n", "see [X]\n\n[x]: /u \"fine\"\n"},
		"used with a long title":             {"see [x]\n\n[x]: /u \"" + long + "\"\n", "see [x]\n\n[x]: /u \"\"\n"},
		"used once, defined twice":           {"see [x]\n\n[x]: /u\n[x]: /v (evil)\n", "see [x]\n\n[x]: /u\n"},
		"used by code alone":                 {"see `[x]`\n\n[x]: # (evil)\n", "see `[x]`\n\n"},
		"a footnote":                         {"a\n\n[^1]: evil\nevil\n\n    evil\n\nb", "a\n\n\nb"},
		"a footnote in a paragraph":          {"a\n[^1]: evil\n\nb", "a\n\nb"},
		"a footnote with a reference":        {"a[^1]\n\n[^1]: fine\n", "a[^1]\n\n[^1]: fine\n"},
		"a long title":                       {"[a](/u \"" + long + "\") ![b](/v '" + short + "')", "[a](/u \"\") ![b](/v '" + short + "')"},
		"a long alt":                         {"![" + long + "](/u) ![" + short + "](/u)", "![](/u) ![" + short + "](/u)"},
		"a long alt by reference":            {"![" + long + "][x]\n\n[x]: /u\n", "![][x]\n\n[x]: /u\n"},
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
		got, left := WithoutUnshown(c.in)
		if got != c.want {
			t.Errorf("%s:\n%q\n%q\nwant\n%q", name, c.in, got, c.want)
		}
		if want := len(c.in) - len(c.want); left != want {
			t.Errorf("%s: %d characters, want %d", name, left, want)
		}
		if !strings.Contains(c.in, "<") && strings.Contains(strings.Join(wordsOf(rendered(t, c.in)), " "), "evil") {
			t.Errorf("%s: a page shows it: %s", name, rendered(t, c.in))
		}
		if again, more := WithoutUnshown(got); again != got || more != 0 {
			t.Errorf("%s: it is left out twice: %q, then %q", name, got, again)
		}
	}
}

// wordsOf returns the words that a page shows.
func wordsOf(page string) (all []string) {
	for _, n := range nodes(page) {
		all = append(all, strings.Fields(n.text)...)
	}
	return all
}

func TestHostileTextsAreReadFast(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("[", 60000), strings.Repeat("![", 30000), strings.Repeat("[a]: ", 12000), strings.Repeat("[a]: /u\n", 8000), strings.Repeat("[^a]: b\n", 8000), strings.Repeat("<a ", 20000),
		strings.Repeat("<p hidden>", 6000), strings.Repeat("> ", 30000), strings.Repeat("[a](b \"", 8000), "<a " + strings.Repeat("x=\"", 20000),
	} {
		WithoutUnshown(s)
	}
}
