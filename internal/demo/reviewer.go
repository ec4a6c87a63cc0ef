package demo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// approvals are the demo's reviewer's reasons to approve, by issue.
var approvals = map[int]string{
	bugIssue:    "Without a name everybody is greeted, and `test.sh` fails without the fix.",
	designIssue: "It does what the design says, also of a language that is not in the file.",
	jobIssue:    "What the README says can be typed as it stands.",
}

// reviewed is what a reviewer says of a checkout.
func reviewed(req request, dir string) (map[string]any, error) {
	issue := req.Context.Task.Issue.Number
	if req.Context.Review == nil || approvals[issue] == "" {
		return nil, errors.New("the demo's reviewer does not know what to look at")
	}
	line, err := brokenUse(dir)
	if err != nil {
		return nil, err
	}
	earlier := []any{}
	for _, f := range req.Context.Findings {
		earlier = append(earlier, map[string]any{"finding": f.ID, "resolved": line == 0, "note": nil})
	}
	a := map[string]any{
		"decision": review.Approve, "summary": approvals[issue], "body": nil, "comments": []any{}, "earlier": earlier, "escalate": []string{},
	}
	if line > 0 {
		a["decision"], a["summary"] = review.RequestChanges, "What the README says does not run."
		a["comments"] = []any{map[string]any{
			"path": readme, "line": line, "severity": review.Major, "confidence": "high",
			"body": "`greet.sh` is not executable, so this says \"Permission denied\".",
		}}
	}
	return a, nil
}

const readme = "README.md"

// brokenUse is the line of the README that runs greet.sh as a program, which it is not;
// 0 where there is none.
func brokenUse(dir string) (int, error) {
	b, err := os.ReadFile(filepath.Join(dir, readme))
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(filepath.Join(dir, "greet.sh"))
	if err != nil {
		return 0, err
	}
	runs := func(line string) bool { return strings.HasPrefix(line, "    ./greet.sh") }
	if info.Mode()&fs.FileMode(0o111) != 0 {
		return 0, nil
	}
	return 1 + slices.IndexFunc(strings.Split(string(b), "\n"), runs), nil
}

// fixed does what a reviewer asks for.
func fixed(req request, dir string) (map[string]any, error) {
	if req.Context.ReviewFix == nil {
		return nil, errors.New("the demo's agent mends no checks")
	}
	var replies []map[string]any
	for _, f := range req.Context.Findings {
		replies = append(replies, map[string]any{"review_comment_id": f.CommentID, "resolve": true, "body": "Done: `sh` runs it now."})
	}
	return feedback("Run it with sh", replies, ""), useSh.apply(dir)
}
