package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/template"
)

// A template prints here what it prints in gh.
func TestTemplatesAreThoseOfGh(t *testing.T) {
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
	const day = 24 * time.Hour
	data := `{"name": "ann\nlee", "n": 3, "part": 2.345, "yes": true, "none": null, "list": ["a", 1, null], "objects": [{"k": "x"}, {"k": 7}, {}],
		"long": "Es war einmal ein König, der hatte eine Tochter", "at": "2026-01-02T03:04:05Z", "times": ["` +
		strings.Join([]string{ago(0), ago(90 * time.Second), ago(time.Hour + time.Minute), ago(5 * time.Hour), ago(day), ago(29 * day), ago(30 * day), ago(364 * day), ago(365 * day), ago(999 * day)}, `", "`) + `"]}`
	for _, source := range []string{
		`{{.name}}{{"\n"}}`,
		`{{range .times}}{{timeago .}},{{end}}`,
		`{{timefmt "Jan 2" .at}} {{truncate 12 .long}} {{truncate 5 .none}}`,
		`{{join "+" .list}} {{join "," (pluck "k" .objects)}}`,
		`{{color "red+b" .n}} {{autocolor "green" .part}} {{color "blue" .none}} {{autocolor "white" .yes}}`,
		`{{hyperlink "http://x" "y"}} {{hyperlink "http://x" ""}}`,
		`{{contains "nn" .name}} {{hasPrefix "an" .name}} {{hasSuffix "an" .name}} {{regexMatch "^a.n" .name}} {{replace "n" "m" .name}}`,
		`{{tablerow "A" "B"}}{{tablerow .n .name}}{{tablerender}}{{tablerow .long .long}}`,
		`{{tablerow .long "b"}}{{tablerow "a" .part}}`,
		`{{.name`, `{{nosuch .name}}`, `{{join "," .name}}`, `{{color "red" .list}}`, `{{truncate 5 .n}}`, `{{timeago "x"}}`, `{{timefmt "x" .n}}`, `{{tablerow .objects}}`,
	} {
		for _, colours := range []bool{false, true} {
			var ours, theirs bytes.Buffer
			err := executeTemplate(Output{Width: 40, Color: colours}, &ours, strings.NewReader(data), source)
			gh := template.New(&theirs, 40, colours)
			want := gh.Parse(source)
			if want == nil {
				want = gh.Execute(strings.NewReader(data))
			}
			if want == nil {
				want = gh.Flush()
			}
			if (err == nil) != (want == nil) || err == nil && ours.String() != theirs.String() {
				t.Errorf("%s: %q, %v; gh has %q, %v", source, &ours, err, &theirs, want)
			}
		}
	}
}
