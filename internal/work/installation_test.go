package work_test

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestInstallations(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(id string, ago time.Duration) work.Installation {
		return work.Installation{ID: id, Since: now.Add(-ago)}
	}
	all := func(list ...work.Installation) []work.Installation { return list }
	for name, c := range map[string]struct {
		stored, remembered []work.Installation
		shared             bool
		as                 string
		ours, strangers    []string
	}{
		"a first pass":                              {as: "here", ours: []string{"here", ""}, strangers: []string{"other"}},
		"the database is lost":                      {remembered: all(at("here", time.Hour)), as: "here", ours: []string{"here"}, strangers: []string{"other"}},
		"the folder was copied to another machine":  {remembered: all(at("old", 9*time.Hour)), as: "here", ours: []string{"here", "old"}},
		"a new machine of a fleet":                  {stored: all(at("a", 9*time.Hour), at("b", time.Hour)), shared: true, as: "a", ours: []string{"a", "b"}, strangers: []string{"here"}},
		"a machine that worked alone joins a fleet": {stored: all(at("a", 9*time.Hour)), remembered: all(at("here", time.Hour)), shared: true, as: "a", ours: []string{"a", "here"}},
		"a fleet lost its database":                 {stored: all(at("new", time.Minute)), remembered: all(at("a", 9*time.Hour), at("b", time.Hour)), shared: true, as: "a", ours: []string{"a", "b", "new"}},
	} {
		got := work.InstallationsOf(c.stored, c.remembered, "here", c.shared, now)
		if got.As != c.as {
			t.Errorf("%s: it writes as %s", name, got.As)
		}
		for _, id := range c.ours {
			if !got.Has(id) {
				t.Errorf("%s: %q is a stranger", name, id)
			}
		}
		for _, id := range c.strangers {
			if got.Has(id) {
				t.Errorf("%s: %q is ours", name, id)
			}
		}
	}
	ours := work.InstallationsOf(nil, all(at("here", 5*time.Hour)), "here", false, now)
	for _, c := range []struct {
		id        string
		ago, gone time.Duration // gone: 0: nobody said that
		meets     bool
	}{
		{"other", time.Hour, 0, true},
		{"other", 5*time.Hour + 50*time.Minute, 0, true},
		{"other", 7 * time.Hour, 0, false}, // it was moved here
		{"other", 2 * time.Hour, time.Hour, false},
		{"other", time.Hour, 2 * time.Hour, true}, // it lives
		{"here", time.Hour, 0, false},
		{"", time.Hour, 0, false},
	} {
		gone := time.Time{}
		if c.gone > 0 {
			gone = now.Add(-c.gone)
		}
		if got := ours.Meets(work.Sign{ID: c.id, At: now.Add(-c.ago)}, gone); got != c.meets {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A marker is of its repository: one that was copied or transferred from another names nobody.
func TestAMarkerIsOfItsRepository(t *testing.T) {
	here, there := work.RepoKey("github.com octo/app"), work.RepoKey("github.com octo/lib")
	marker := work.SignedIn(here, "0a1b2c3d-4e5f6071")
	for _, c := range []struct {
		repo         work.RepoKey
		marker, want string
	}{
		{here, marker, "0a1b2c3d-4e5f6071"},
		{there, marker, ""},
		{here, "0a1b2c3d-4e5f6071", ""}, // of a program that did not name the repository
		{here, "", ""},
		{here, marker[:len(marker)-1], ""},
	} {
		if got := work.InstallationIn(c.repo, c.marker); got != c.want {
			t.Errorf("%q in %s: %q, want %q", c.marker, c.repo, got, c.want)
		}
	}
}
