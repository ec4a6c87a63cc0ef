package github

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// refs names issues without their host.
func refs(list []Issue) (out []string) {
	for _, i := range list {
		out = append(out, fmt.Sprintf("%s#%d", i.Repo.FullName(), i.Number))
	}
	return out
}

func TestSubIssues(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	lib, err := w.hub.AddRepo("alice/lib", map[string]string{"a": "a"})
	must(t, err)
	parent, own := w.issue(t, "The plan"), w.issue(t, "A part")
	elsewhere, err := lib.OpenIssue("alice", "A part of the library", "")
	must(t, err)
	must(t, w.repo.AddSubIssue(parent, "alice", fmt.Sprint(own)))
	must(t, w.repo.AddSubIssue(parent, "alice", fmt.Sprintf("alice/lib#%d", elsewhere)))

	is, _, err := w.client.Issue(ctx, w.name, parent)
	must(t, err)
	repo, err := w.client.Repository(ctx, w.name)
	must(t, err)
	child, err := w.client.CreateChild(ctx, NewChild{RepoNodeID: repo.NodeID, ParentNodeID: is.NodeID, Title: "Third", Body: "Its text"})
	must(t, err)
	must(t, w.client.UpdateIssue(ctx, w.name, child.Number, "The third", "Its new text"))
	must(t, w.client.CloseIssue(ctx, w.name, own, work.CloseNotPlanned))
	must(t, w.repo.MoveSubIssue(parent, "alice", fmt.Sprint(child.Number)))

	list, ok, err := w.client.SubIssues(ctx, w.name, parent)
	must(t, err)
	want := []string{fmt.Sprintf("alice/app#%d", child.Number), fmt.Sprintf("alice/app#%d", own), fmt.Sprintf("alice/lib#%d", elsewhere)}
	if !ok || !slices.Equal(refs(list), want) {
		t.Fatalf("sub-issues %v (%v), want %v", refs(list), ok, want)
	}
	above := work.Dependency{Repo: w.name, Number: parent}.String()
	for _, i := range list {
		if i.Parent != above {
			t.Errorf("the parent of #%d is %q", i.Number, i.Parent)
		}
	}
	if list[0].Title != "The third" || list[0].Body != "Its new text" || list[1].Dependency() != work.DependencyDropped {
		t.Errorf("the third is %+v, the closed one %s", list[0], list[1].Dependency())
	}
	all, err := w.client.IssuesSince(ctx, w.name, time.Time{})
	must(t, err)
	for _, i := range all {
		switch {
		case i.Number == parent && (i.SubIssues != SubIssues{true, 3} || i.Parent != ""):
			t.Errorf("the list says of the parent: %+v, parent %q", i.SubIssues, i.Parent)
		case i.Number == own && (i.SubIssues != SubIssues{true, 0} || i.Parent != above):
			t.Errorf("the list says of a sub-issue: %+v, parent %q", i.SubIssues, i.Parent)
		}
	}

	// Transferred, it stays a sub-issue; deleted, it is none.
	_, err = w.repo.TransferIssue(child.Number, "alice", "alice/lib")
	must(t, err)
	must(t, w.repo.DeleteIssue(own, "alice"))
	list, _, err = w.client.SubIssues(ctx, w.name, parent)
	must(t, err)
	if want := []string{"alice/lib#2", "alice/lib#1"}; !slices.Equal(refs(list), want) {
		t.Errorf("sub-issues %v, want %v", refs(list), want)
	}
	for _, gone := range []int{child.Number, own} {
		if _, ok, err := w.client.SubIssues(ctx, w.name, gone); ok || err != nil {
			t.Errorf("sub-issues of #%d, which is gone: %v, %v", gone, ok, err)
		}
	}
	w.hub.WithoutSubIssues()
	is, _, err = w.client.Issue(ctx, w.name, parent)
	must(t, err)
	if _, ok, err := w.client.SubIssues(ctx, w.name, parent); ok || err != nil || is.SubIssues.Supported {
		t.Errorf("a host without sub-issues: %v, %v, %+v", ok, err, is.SubIssues)
	}
}

func TestBlockersAreAddedAndRemoved(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	first, second := w.issue(t, "First"), w.issue(t, "Second")
	by, _, err := w.client.Issue(ctx, w.name, first)
	must(t, err)
	must(t, w.client.AddBlocker(ctx, w.name, second, by.ID))
	if err := w.client.AddBlocker(ctx, w.name, second, by.ID); !IsStatus(err, 422) {
		t.Errorf("added twice: %v", err)
	}
	list, err := w.client.BlockedBy(ctx, w.name, second)
	must(t, err)
	if len(list) != 1 || list[0].Ref != by.Ref() || list[0].State != work.DependencyOpen {
		t.Errorf("blocked by %+v", list)
	}
	must(t, w.client.RemoveBlocker(ctx, w.name, second, by.ID))
	if list, err = w.client.BlockedBy(ctx, w.name, second); err != nil || len(list) != 0 {
		t.Errorf("blocked by %+v, %v", list, err)
	}
}
