package work

import (
	"encoding/json"
	"fmt"
)

// FirstLookList is the name under which progress is stored.
const FirstLookList = "adopted"

// FirstLookDone is stored once every pull request was looked at.
const FirstLookDone = "done"

// FirstLook is the progress of the first look at a repository's open pull requests. A new
// repository gets one, and one whose database was lost: page by page, oldest first, over as many
// passes as needed.
type FirstLook struct {
	After string `json:"after"`          // what the next page is asked for by; empty: the first one
	Seen  int    `json:"seen"`           // how many pull requests are on the pages before it
	Part  int    `json:"part,omitempty"` // how many of the page itself were looked at
	All   int    `json:"all"`            // how many are open
}

// ParseFirstLook parses stored progress. underWay is false if there is nothing more to look at.
func ParseFirstLook(stored string) (p FirstLook, underWay bool) {
	if stored == "" || stored == FirstLookDone || json.Unmarshal([]byte(stored), &p) != nil {
		return FirstLook{}, false
	}
	return p, true
}

// String returns the form that is stored.
func (p FirstLook) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // four plain fields
	}
	return string(text)
}

// LookedAt is the number of pull requests looked at so far. Meanwhile some may have been closed and
// others opened, so it is limited to all.
func (p FirstLook) LookedAt() int { return min(p.Seen+p.Part, p.All) }

// Says describes the progress.
func (p FirstLook) Says() string {
	return fmt.Sprintf("%d of %d open pull requests are looked at so far", p.LookedAt(), p.All)
}

// Resumes describes the progress at the end of a pass that had no time for all of them.
func (p FirstLook) Resumes() string { return p.Says() + "; the next pass resumes there" }
