package work

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Installation is a config with its state folder on a machine. The markers of what it writes on GitHub name it.
type Installation struct {
	ID    string
	Since time.Time // when its first pass began
}

// SameMachine reports whether two ids are of configs on one machine.
func SameMachine(a, b string) bool { return len(a) > 8 && len(b) > 8 && a[:8] == b[:8] }

// SignedIn returns an installation's id as the markers in a repository have it. A text that was transferred or
// copied from another repository is no sign that its installation works in this one.
func SignedIn(repo RepoKey, id string) string {
	return id + "-" + ContentHash("installation", id, string(repo))[:8]
}

// InstallationIn returns the id that a marker in a repository has; empty: none, or one of another repository.
func InstallationIn(repo RepoKey, marker string) string {
	if at := strings.LastIndexByte(marker, '-'); at > 0 && SignedIn(repo, marker[:at]) == marker {
		return marker[:at]
	}
	return ""
}

// Sign is the newest text under our account by an installation that does not use our database.
type Sign struct {
	RepoID int64
	ID     string // of the installation
	At     time.Time
	URL    string
}

// beforeUs is how old, when our first pass began, the sign of an installation may be that still counts
// as at work. An older one was moved here, or its state folder is lost.
const beforeUs = time.Hour

// Installations are those that use one database.
type Installations struct {
	All []Installation // oldest first
	As  string         // whose id stands in what this pass writes
}

// InstallationsOf joins what the database has with what the state folder remembers: either may be lost. here is the
// state folder itself, which writes under its own id, and under the oldest one where machines share the
// database.
func InstallationsOf(stored, remembered []Installation, here string, shared bool, now time.Time) Installations {
	all := slices.Clone(stored)
	add := func(i Installation) {
		if !slices.ContainsFunc(all, func(k Installation) bool { return k.ID == i.ID }) {
			all = append(all, i)
		}
	}
	for _, i := range remembered {
		add(i)
	}
	if !shared || len(all) == 0 { // a new folder of a fleet has written nothing under its own id
		add(Installation{here, now})
	}
	sorted.By(all, func(a, b Installation) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	if shared {
		here = all[0].ID
	}
	return Installations{all, here}
}

// Same reports whether two name the same ones.
func (o Installations) Same(all []Installation) bool {
	return slices.EqualFunc(o.All, all, func(a, b Installation) bool { return a.ID == b.ID })
}

// Has reports whether an id is one of ours. What has none was written before there were ids.
func (o Installations) Has(id string) bool {
	return id == "" || slices.ContainsFunc(o.All, func(i Installation) bool { return i.ID == id })
}

// Meets reports whether a sign shows an installation that is at work beside ours. gone is when a person
// said that it is gone; zero: nobody did.
func (o Installations) Meets(s Sign, gone time.Time) bool {
	if o.Has(s.ID) {
		return false
	}
	return s.At.After(gone) && len(o.All) > 0 && s.At.After(o.All[0].Since.Add(-beforeUs))
}
