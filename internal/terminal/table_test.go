package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cli/go-gh/v2/pkg/text"
)

var turnTable = struct {
	headings []string
	rows     [][]string
}{
	[]string{"CLAIMED", "KIND", "STEP", "RUNS", "WHY", "TROUBLE", "KEY", "SANDBOX"},
	[][]string{
		{"about 2 hours ago", "implementation_feedback", "done", "1 run", "3 comments by ann and bob on the pull request", "", strings.Repeat("a1", 32), "bwrap"},
		{"less than a minute ago", "fix", "claimed", "2 runs", "the check build is red", "agent \"codex\" ended with exit code 3", strings.Repeat("b2", 32), "bwrap"},
	},
}

func tableAt(t *testing.T, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := (Output{W: &b, TTY: true, Width: width}).Table(turnTable.headings, turnTable.rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Nothing is cut from a table, neither a heading nor a word, and no line is wider than
// the terminal that it can fit.
func TestTablesFitAndKeepEverything(t *testing.T) {
	for _, width := range []int{80, 100, 132, 400} {
		got := tableAt(t, width)
		words := strings.Fields(got)
		for _, cell := range append(append([]string{}, turnTable.headings...), append(turnTable.rows[0], turnTable.rows[1]...)...) {
			for word := range strings.FieldsSeq(cell) {
				if !slices.Contains(words, word) {
					t.Errorf("%d wide: %q is missing or cut:\n%s", width, word, got)
				}
			}
		}
		for line := range strings.Lines(got) {
			if n := text.DisplayWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d wide: a line of %d: %s", width, n, line)
			}
		}
	}
	if got := tableAt(t, 400); strings.Count(got, "\n") != 3 {
		t.Errorf("where there is room a row is a line:\n%s", got)
	}
}

func TestTableGolden(t *testing.T) {
	var b bytes.Buffer
	o := Output{W: &b, TTY: true, Width: 60}
	rows := [][]string{
		{"octo/app#1", "done", "", "label agent:bugfix", "https://github.com/octo/app/pull/2"},
		{"octo/app#12", "waiting", "", "a new attempt after the provider said that it is out of credit", ""},
	}
	if err := o.Table([]string{"ITEM", "OUTCOME", "TROUBLE", "REASON", "LINK"}, rows); err != nil {
		t.Fatal(err)
	}
	want := `ITEM         OUTCOME  REASON
octo/app#1   done     label agent:bugfix
    LINK  https://github.com/octo/app/pull/2
octo/app#12  waiting  a new attempt after the provider said
                      that it is out of credit
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// A list is a line for each row: what is cut from it shows that.
func TestListsShowWhatIsCut(t *testing.T) {
	var b bytes.Buffer
	o := Output{W: &b, TTY: true, Width: 40}
	if err := o.List([]string{"ITEM", "PR", "TITLE"}, [][]string{{"octo/app#1", "", "Paint the garden shed in a colour"}, {"octo/app#2", "#3", "短い題名で、とても長くなるはずの説明文です"}}); err != nil {
		t.Fatal(err)
	}
	want := `ITEM        PR  TITLE
octo/app#1      Paint the garden shed i…
octo/app#2  #3  短い題名で、とても長く…
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
