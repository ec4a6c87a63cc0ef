package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// After any requests, sub-issues are a forest of bounded trees, and both ends of a link agree.
func TestSubIssuesAreAForest(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		const issues = 14
		last := 0
		for range issues {
			n, err := w.repo.OpenIssue("me", "x", "")
			w.must(err)
			last = n
		}
		first := last - issues + 1
		number := rapid.IntRange(first, last)
		for range rapid.IntRange(1, 60).Draw(rt, "requests") {
			parent, child := number.Draw(rt, "parent"), number.Draw(rt, "child")
			is, ok := w.repo.Issue(child)
			if !ok {
				continue
			}
			path := fmt.Sprintf("/repos/acme/app/issues/%d/sub_issue", parent)
			body := object{"sub_issue_id": is.ID}
			switch rapid.IntRange(0, 9).Draw(rt, "deed") {
			case 0:
				w.do("me", http.MethodDelete, path, body)
			case 1:
				_ = w.repo.DeleteIssue(child, "me")
			case 2:
				_ = w.repo.Close(child, "me", "not_planned")
			case 3:
				other, _ := w.repo.Issue(number.Draw(rt, "other"))
				w.do("me", http.MethodPatch, path+"s/priority", object{"sub_issue_id": is.ID, "after_id": other.ID})
			default:
				body["replace_parent"] = rapid.Bool().Draw(rt, "replace")
				w.do("me", http.MethodPost, path+"s", body)
			}
		}
		parents := map[string]int{}
		for n := first; n <= last; n++ {
			for _, ref := range w.repo.SubIssues(n) {
				if p, two := parents[ref]; two {
					rt.Fatalf("%s has the parents %d and %d", ref, p, n)
				}
				parents[ref] = n
			}
		}
		for ref := range parents {
			depth := 0
			for at, ok := ref, true; ok; depth++ {
				if depth > mostGenerations {
					rt.Fatalf("%s lies deeper than %d levels, or in a circle", ref, mostGenerations)
				}
				var p int
				if p, ok = parents[at]; ok {
					at = "acme/app#" + strconv.Itoa(p)
				}
			}
		}
		for n := first; n <= last; n++ {
			res := w.do("me", http.MethodGet, fmt.Sprintf("/repos/acme/app/issues/%d/parent", n), nil)
			_, has := parents[fmt.Sprintf("acme/app#%d", n)]
			if (res.StatusCode == http.StatusOK) != has {
				rt.Fatalf("the parent of #%d answers %d, and it has one: %v", n, res.StatusCode, has)
			}
		}
	})
}

func TestLimitsOfSubIssues(t *testing.T) {
	w := newWorld(t)
	open := func() (number int, id int64) {
		n, err := w.repo.OpenIssue("me", "x", "")
		w.must(err)
		is, _ := w.repo.Issue(n)
		return n, is.ID
	}
	add := func(parent int, child int64, want int) {
		t.Helper()
		if res := w.do("me", http.MethodPost, fmt.Sprintf("/repos/acme/app/issues/%d/sub_issues", parent), object{"sub_issue_id": child}); res.StatusCode != want {
			t.Errorf("#%d gets a sub-issue: %d, want %d: %s", parent, res.StatusCode, want, res.text)
		}
	}
	wide, _ := open()
	for i := range mostSubIssues {
		n, id := open()
		add(wide, id, http.StatusCreated)
		if i == 0 { // a closed one counts
			w.must(w.repo.Close(n, "me", ""))
		}
	}
	_, id := open()
	add(wide, id, http.StatusUnprocessableEntity)
	above, _ := open()
	for range mostGenerations {
		n, id := open()
		add(above, id, http.StatusCreated)
		above = n
	}
	_, id = open()
	add(above, id, http.StatusUnprocessableEntity)
	if one := w.repo.SubIssues(wide); len(one) != mostSubIssues || !slices.Contains(one, "acme/app#2") {
		t.Errorf("%d sub-issues", len(one))
	}
}
