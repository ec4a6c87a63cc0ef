package tick

import (
	"slices"
	"testing"
)

func TestSectionsOfADocument(t *testing.T) {
	const doc = "---\nissue: 1\n---\n\n# Title\n\n## Non-Goals\n\n- speed, which\n  is enough\n* beauty\n\n### Later\n\nOne\nparagraph.\n\n## Acceptance criteria ##\n\n- it works\n"
	for name, want := range map[string][]string{
		"non-goals":           {"speed, which is enough", "beauty", "One paragraph."},
		"acceptance criteria": {"it works"},
		"nothing":             nil,
	} {
		if got := section(doc, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
