package work

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What is read of any text is what is written of it.
func FuzzMarks(f *testing.F) {
	stop := MarkStop(Stop{Number: 7, Reason: Reason{Kind: WhyQuestion, Text: "which?"}, Attempts: 1, Since: time.UnixMilli(1)})
	node := MarkNode(NodeMark{Roadmap: 7, Run: 8, Node: "a", Hash: "b"})
	for _, body := range []string{
		"", "text", Mark("text", Marks{Token: "a1b2", Handled: []string{"1:a:b:c"}, Stop: stop, Node: node, Nodes: MarkNodes(NodesMark{Roadmap: 7, Run: 8, Nodes: map[string]int{"a": 9}})}),
		MarkPull(PullMark{Issue: 1, Flow: FlowBugfix, Turn: "t"}), "<!-- mergexo-work:[[[[ -->", "<!-- mergexo-stop:W1tb -->\n<!-- mergexo-action:a1b2 -->",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, ok := ParseMarks(body)
		if !ok && !reflect.DeepEqual(m, Marks{}) {
			t.Fatalf("%q has no marks, and %+v", body, m)
		}
		if ok {
			if again, ok := ParseMarks(Mark("text", m)); !ok || !reflect.DeepEqual(again, m) {
				t.Fatalf("%+v is read back as %+v", m, again)
			}
		}
		if p, ok := ParsePullMark(body); ok {
			if again, ok := ParsePullMark(MarkPull(p)); !ok || again != p {
				t.Fatalf("%+v is read back as %+v", p, again)
			}
		}
		for _, mark := range []string{m.Stop, m.Node, m.Nodes, body, base64.RawURLEncoding.EncodeToString([]byte(body))} {
			if s, ok := ParseStop(mark, 7); ok {
				if again, ok := ParseStop(MarkStop(s), 7); !ok || again.Attempts != s.Attempts || !again.Since.Equal(s.Since) || again.Reason.Kind != s.Reason.Kind {
					t.Fatalf("%+v is read back as %+v", s, again)
				}
			}
			if n, ok := ParseNode(mark, 0); ok {
				if again, ok := ParseNode(MarkNode(n), n.Roadmap); !ok || again != n {
					t.Fatalf("%+v is read back as %+v", n, again)
				}
			}
			if n, ok := ParseNodes(mark, 7, 8); ok {
				if again, ok := ParseNodes(MarkNodes(n), 7, 8); !ok || !reflect.DeepEqual(again, n) {
					t.Fatalf("%+v is read back as %+v", n, again)
				}
			}
		}
		if _, ok := ParseDependency(strings.TrimSpace(body), RepoName{Host: "github.com", Owner: "o", Name: "r"}); ok && len(body) > 1<<10 {
			t.Fatalf("%d bytes are the name of an issue", len(body))
		}
	})
}
