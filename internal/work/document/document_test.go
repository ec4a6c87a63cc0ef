package document

import (
	"slices"
	"testing"
)

// Names of two sections of a design.
var (
	nonGoals = []string{"nongoals", "nongoal", "outofscope", "notinscope"}
	criteria = []string{"acceptancecriteria", "acceptancecriterion", "acceptance"}
)

func TestASectionIsPartedIntoPoints(t *testing.T) {
	const doc = "---\nissue: 1\n---\n\n# Title\n\n## Non-Goals\n\n- speed, which\n  is enough\n* beauty\n\n### Later\n\nOne\nparagraph.\n\n" +
		"## Acceptance criteria ##\n\n1. it works\n2) twice\n+ [x] so far\n- [ ] and on\n"
	if got, want := Points(doc, nonGoals), []string{"speed, which is enough", "beauty", "One paragraph."}; !slices.Equal(got, want) {
		t.Errorf("non-goals: %q, want %q", got, want)
	}
	if got, want := Points(doc, criteria), []string{"it works", "twice", "so far", "and on"}; !slices.Equal(got, want) {
		t.Errorf("criteria: %q, want %q", got, want)
	}
	if got := Points(doc, []string{"missing"}); got != nil {
		t.Errorf("missing: %q", got)
	}
}

// A section is found however people write its heading.
func TestASectionIsFoundByWhateverItIsCalled(t *testing.T) {
	for _, heading := range []string{
		"## Non-goals", "## Non goals", "## NON-GOALS", "## Nongoals", "# Non\u2011Goals:", "## 2.2 Non-goals (initially)", "### 3) Non-goals", "## 4. Non-goals",
		"## (b) Non-Goals", "## IV. Non-goals", "## § 2 Non-goals", "## Section 2: Non-goals", "## **Non-goals**", "## _Non-goals_ ##", "## `Non-goals`",
		"## [Non-goals](#non-goals)", "  ## Non-goals", "##\tNon-goals", "## Non-goals / out of scope", "## Non-goals and future work", "## Non-goals – for now",
		"## Out of scope", "## Out-of-scope for now", "## Not in scope", "Non-goals\n---------", "Non-goals\n===", "**2.2 Non-goals (initially)**", "__Non-goals__:", "**Non-goals:**",
	} {
		doc := "# Title\n\n## Design\n\nWhat changes.\n\n" + heading + "\n\n- speed\n\n# Risks\n\n- none\n"
		if got := Points(doc, nonGoals); !slices.Equal(got, []string{"speed"}) {
			t.Errorf("%q: %q", heading, got)
		}
		if got := Points("intro\n"+heading+"\n- speed\n", nonGoals); heading[0] != 'N' && heading[0] != '*' && heading[0] != '_' && !slices.Equal(got, []string{"speed"}) {
			t.Errorf("%q below a paragraph: %q", heading, got)
		}
	}
	for _, heading := range []string{"## Acceptance Criteria", "## 5 Acceptance criteria:", "## Acceptance", "Acceptance criteria\n---", "## Acceptance criteria for the command"} {
		if got := Points(heading+"\n\n- it works\n", criteria); !slices.Equal(got, []string{"it works"}) {
			t.Errorf("%q: %q", heading, got)
		}
	}
}

// Other headings hand over nothing.
func TestWhatIsNoSuchSection(t *testing.T) {
	for _, doc := range []string{
		"## Goals and non-goals\n\n- fast\n", "## Goals\n\n- non-goals\n", "Text about non-goals\nand more\n", "- Non-goals\n---\n- a\n", "> ## Non-goals\n\n- a\n",
		"```md\n## Non-goals\n\n- a\n```\n", "~~~\nNon-goals\n---\n- a\n~~~\n", "## Why non-goals matter\n\n- a\n", "#Non-goals\n\n- a\n", "    ## Non-goals\n\n- a\n",
		"## Acceptance of risk\n\n- a\n", "## Non-goals\n\n## Design\n\n- a\n", "Some **Non-goals** here.\n\n- a\n",
	} {
		if got := Points(doc, nonGoals); got != nil {
			t.Errorf("%q: non-goals %q", doc, got)
		}
		if got := Points(doc, criteria); got != nil {
			t.Errorf("%q: criteria %q", doc, got)
		}
	}
}

// A section ends with the next heading of its level in any form. Headings in code do not end it.
func TestWhereASectionEnds(t *testing.T) {
	for doc, want := range map[string][]string{
		"## Non-goals\n- a\n\nDesign\n------\n- b\n":                 {"a"},
		"Non-goals\n---\n- a\n\n**Note**\n\n- b\n\n# Top\n- c\n":     {"a", "b"},
		"**Non-goals**\n\n- a\n\n**Design**\n\n- b\n":                {"a"},
		"## Non-goals\n\n```\n# no heading\n```\n\n## Design\n- b\n": {"``` # no heading ```"},
		"## Non-goals\n\n## Out of scope\n- a\n":                     {"a"},
		"## Non-goals\r\n\r\n- a\r\n\r\n## Design\r\n- b\r\n":        {"a"},
	} {
		if got := Points(doc, nonGoals); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}
