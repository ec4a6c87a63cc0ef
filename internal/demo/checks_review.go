package demo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// headline is how a review of ours begins: who says what.
var headline = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\*\*(.+?)\.\*\*`) })

// verdicts are the reviews of ours of a pull request, in a few words each. They are
// recognised by their words, because a reader on GitHub sees no markers.
func (d witness) verdicts(pull int) []string {
	var said []string
	for _, v := range d.repo.Reviews(pull) {
		if m := headline().FindStringSubmatch(visible(v.Body)); m != nil && v.Author == operator {
			said = append(said, m[1])
		}
	}
	return said
}

// verdict is the last one.
func (d witness) verdict(pull int) string {
	if said := d.verdicts(pull); len(said) > 0 {
		return said[len(said)-1]
	}
	return "no review is on the GitHub"
}

// wasTold checks the verdicts of a pull request.
func (d witness) wasTold(pull int, want ...string) error {
	if said := d.verdicts(pull); !slices.Equal(said, want) {
		return fmt.Errorf("the reviews of #%d say %q, not %q", pull, said, want)
	}
	return nil
}

// statusIs checks the state of the commit status on the head of a pull request, and returns its
// description.
func (d witness) statusIs(pull int, want string) (string, error) {
	p, _ := d.repo.Pull(pull)
	for _, s := range d.repo.Statuses(p.HeadOID) {
		switch {
		case s.Context != review.StatusContext:
		case s.State != want:
			return "", fmt.Errorf("%s of #%d is %s, not %s", review.StatusContext, pull, s.State, want)
		default:
			return s.Description, nil
		}
	}
	return "", fmt.Errorf("#%d has no %s", pull, review.StatusContext)
}

// approved checks that the last commits of pull requests have the status that says so,
// and shows it.
func (d witness) approved(pulls ...int) error {
	d.say("  The status %s of the last commit:", review.StatusContext)
	var rows [][]string
	for _, pull := range slices.Sorted(slices.Values(pulls)) {
		words, err := d.statusIs(pull, "success")
		if err != nil {
			return err
		}
		rows = append(rows, []string{fmt.Sprintf("#%d", pull), "success", words})
	}
	d.columns(rows)
	return nil
}

// reviewStands shows what the program says of the reviews of a pull request.
func (d witness) reviewStands(ctx context.Context, pull int) error {
	res, err := d.run(ctx, d.self, "show", strconv.Itoa(pull))
	if err != nil {
		return err
	}
	if res.Code != 0 {
		return fmt.Errorf("gh mergexo show %d: exit code %d: %s", pull, res.Code, lastLine(res.Stderr))
	}
	d.ran(fmt.Sprintf("show %d", pull))
	var rows [][]string
	for line := range strings.Lines(string(res.Stdout)) {
		switch cells := strings.Split(strings.TrimSpace(line), "\t"); cells[0] {
		case "review:", "reviewers:":
			rows = append(rows, cells)
		case "finding": // without its link, which leads nowhere here
			rows = append(rows, []string{"finding:", strings.Join(cells[1:len(cells)-1], "  ")})
		}
	}
	d.columns(rows)
	return nil
}

// mergedAsApproved checks that people merged what was approved.
func (d witness) mergedAsApproved(ctx context.Context, pulls ...int) error {
	for _, pull := range pulls {
		var shown struct {
			Item struct {
				Review reviewsOf `json:"review"`
			} `json:"item"`
		}
		if err := d.ask(ctx, &shown, "show", strconv.Itoa(pull), "--json", "item"); err != nil {
			return err
		}
		if r := shown.Item.Review; r.State != review.Merged || r.MergeType != review.MergedApproved {
			return fmt.Errorf("the review of #%d is %s %s, not merged as approved", pull, r.State, r.MergeType)
		}
	}
	return nil
}
