package work

import (
	"encoding/json"
	"testing"
)

// A database and comments on GitHub may have kinds of earlier programs.
func TestStoredKindsAreRead(t *testing.T) {
	for stored, want := range map[ReasonKind]ReasonKind{"comment_not_found": WhyNotFound, "pushed": WhyToBeSent, WhyFailed: WhyFailed, "of_a_newer_program": "of_a_newer_program", "": ""} {
		text, err := json.Marshal(Reason{Kind: stored, Names: []string{"unit"}})
		if err != nil {
			t.Fatal(err)
		}
		var got Reason
		if err := json.Unmarshal(text, &got); err != nil || !got.Equal(Reason{Kind: want, Names: []string{"unit"}}) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	for stored, kind := range joined {
		if again, ok := joined[kind]; ok {
			t.Errorf("%s is read as %s, which is read as %s", stored, kind, again)
		}
	}
}
