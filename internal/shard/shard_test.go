package shard

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, s := range []string{"1/1", "1/2", "2/2", "1000/1000"} {
		got, err := Parse(s)
		if err != nil || got.String() != s || got.All() {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "1", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/2/3", " 1/2", "1/1001", "1.5/2"} {
		if got, err := Parse(s); err == nil || !strings.Contains(err.Error(), "1/2") {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	if !(Shard{}).All() || !(Shard{}).Takes("R_1") {
		t.Error("without a share a machine takes everything")
	}
}

// Each repository has one owner, and a further machine takes over from the others alone.
func TestPropertyEachRepositoryHasOneOwner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, n := rapid.String().Draw(t, "id"), rapid.IntRange(1, 40).Draw(t, "n")
		owners := 0
		for i := 1; i <= n; i++ {
			if (Shard{i, n}).Takes(id) {
				owners++
			}
		}
		if owners != 1 {
			t.Fatalf("%q has %d owners of %d", id, owners, n)
		}
		if before, after := owner(id, n), owner(id, n+1); after != before && after != n+1 {
			t.Fatalf("%q moves from %d to %d when machine %d comes", id, before, after, n+1)
		}
	})
}

// The shares are about equal, and one of n+1 moves to a further machine.
func TestSharesAreEven(t *testing.T) {
	const repositories = 10000
	for n := 1; n <= 8; n++ {
		count, moved := map[int]int{}, 0
		for i := range repositories {
			id := fmt.Sprintf("R_kgDO%06d", i)
			count[owner(id, n)]++
			if owner(id, n) != owner(id, n+1) {
				moved++
			}
		}
		for i := 1; i <= n; i++ {
			if even := repositories / n; count[i] < even*9/10 || count[i] > even*11/10 {
				t.Errorf("machine %d of %d takes %d of %d", i, n, count[i], repositories)
			}
		}
		if even := repositories / (n + 1); moved < even*9/10 || moved > even*11/10 {
			t.Errorf("%d move to machine %d", moved, n+1)
		}
	}
}

// Two versions of the program have to agree for ever.
func TestOwnersStay(t *testing.T) {
	got := ""
	for _, id := range []string{"R_kgDOA", "R_kgDOB", "R_kgDOC", "R_kgDOD", "MDEwOlJlcG9zaXRvcnkx"} {
		for _, n := range []int{2, 3, 7} {
			got += fmt.Sprint(owner(id, n))
		}
		got += " "
	}
	if want := "137 135 134 222 222"; strings.TrimSpace(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
