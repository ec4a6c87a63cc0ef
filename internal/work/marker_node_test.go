package work

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What a sub-issue carries is read back for any name of its node, and its hash is of what people
// read.
func TestANodeIsReadBackFromItsMarker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := NodeMark{Roadmap: 7, Node: "n" + rapid.StringMatching(`[a-z0-9-]{0,40}`).Draw(t, "node"), Hash: ContentHash("x")}
		text := rapid.SampledFrom([]string{"Do it.", "", "One.\n\nTwo.\r\n", "<!-- mergexo-node:x -->\n\nText"}).Draw(t, "text")
		body := Mark(text, Marks{Token: strings.Repeat("a", 64), Node: MarkNode(want)})
		marks, _ := ParseMarks(body)
		if got, ok := ParseNode(marks.Node, 7); !ok || got != want {
			t.Errorf("read %+v, %v of\n%s", got, ok, body)
		}
		if _, ok := ParseNode(marks.Node, 8); ok {
			t.Error("a node of another roadmap is taken for one of this")
		}
		other := Mark(text, Marks{Token: strings.Repeat("b", 64)})
		if IssueHash("Title", body) != IssueHash("Title ", other) {
			t.Errorf("markers change the hash of %q", text)
		}
		if IssueHash("Title", body) == IssueHash("Title", body+"x") || IssueHash("Title", body) == IssueHash("Other", body) {
			t.Error("an edit does not change the hash")
		}
	})
	if IssueHash("T", "One.\n\n\nTwo.  \n") != IssueHash("T", "One.\nTwo.") || IssueHash("T", "One.\nTwo.") == IssueHash("T", "One. Two.") {
		t.Error("blank lines make another version, or words in other lines do not")
	}
	for _, other := range []string{"", "e30", "bm90IEpTT04", "!"} {
		if got, ok := ParseNode(other, 0); ok {
			t.Errorf("read %+v of %q", got, other)
		}
	}
}
