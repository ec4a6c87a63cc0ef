package public

import "testing"

// What an agent writes into a commit message vouches for nobody and switches no check off.
func TestCommitMessagesVouchForNobody(t *testing.T) {
	for in, want := range map[string]string{
		"Fix it\n\nCo-authored-by: Ann <ann@x>\nSigned-off-by: Bob <b@x>": "Fix it",
		"Fix it\n\n  co-AUTHORED-by : Ann <ann@x>\nmore":                  "Fix it\n\nmore",
		"Fix it\n\nReviewed-by: Ann\nAcked-By: Bob\nRefs: #7":             "Fix it\n\nRefs: #7",
		"Fix it\n\nOn-behalf-of: @acme\nskip-checks: true":                "Fix it",
		"Fix it\n\nSigned-off-by: Ann <ann@x>\n  <ann@y>\nmore":           "Fix it\n\nmore",
		"Stand-by: we fix it":                                           "Stand-by: we fix it", // a subject is no trailer
		"Fix it\n\nThis was found by: nobody":                           "Fix it\n\nThis was found by: nobody",
		"[skip ci] Fix it":                                              "Fix it",
		"Fix it [CI skip]":                                              "Fix it",
		"Fix it [no ci] and [skip actions]\n\n[actions skip] x":         "Fix it and\n\nx",
		"Fix it ***NO_CI***":                                            "Fix it",
		"Fix it [skip\tci][ ci  skip ] [skip-ci] [skip azurepipelines]": "Fix it",
		"Fix it [skip [skip ci] ci]":                                    "Fix it",
		"Fix a[i] and [see ci]":                                         "Fix a[i] and [see ci]",
		"Fix the crash\n\nin [skip this] case":                          "Fix the crash\n\nin [skip this] case",
		"[skip ci]":                                                     "",
	} {
		if got := Message(in); got != want {
			t.Errorf("Message(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Title("Fix it [skip ci] now"); got != "Fix it now" {
		t.Errorf("title %q", got)
	}
	// A squashed merge takes the pull request's title and text as its message.
	for in, want := range map[string]string{
		"See [skip ci]":                    "See [\u200bskip ci]",
		"a\n\nCo-authored-by: Ann <ann@x>": "a\n\nCo-authored-by\u200b: Ann <ann@x>",
		"a\nskip-checks: true":             "a\nskip-checks\u200b: true",
		"See [ci](https://x)":              "See [ci](https://x)",
	} {
		if got := NoClosing(in); got != want {
			t.Errorf("NoClosing(%q) = %q, want %q", in, got, want)
		}
	}
}
