// Package firstlook says how far the first look at the open pull requests of a repository
// came. It is made of a repository that is new, and again of one whose database was lost:
// page by page, oldest first, over as many passes as it takes.
package work

import (
	"encoding/json"
	"fmt"
)

// Walk is under what name it is stored how far it came.
const FirstLookList = "adopted"

// Through is what is stored once all were looked at.
const FirstLookDone = "done"

// Place is how far it came.
type FirstLook struct {
	After string `json:"after"`          // what the next page is asked for by; empty: the first one
	Seen  int    `json:"seen"`           // how many pull requests are on the pages before it
	Part  int    `json:"part,omitempty"` // how many of the page itself were looked at
	All   int    `json:"all"`            // how many are open
}

// ParseFirstLook is the place that is stored; under way says that there is more to look at.
func ParseFirstLook(stored string) (p FirstLook, underWay bool) {
	if stored == "" || stored == FirstLookDone || json.Unmarshal([]byte(stored), &p) != nil {
		return FirstLook{}, false
	}
	return p, true
}

// String is what is stored.
func (p FirstLook) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // four plain fields
	}
	return string(text)
}

// LookedAt is how many were looked at so far. Some may have been closed since, and others
// opened, so it is never more than all.
func (p FirstLook) LookedAt() int { return min(p.Seen+p.Part, p.All) }

// Says is that in words.
func (p FirstLook) Says() string {
	return fmt.Sprintf("%d of %d open pull requests are looked at so far", p.LookedAt(), p.All)
}

// Resumes says it of a pass, or of several, that had no time for all of them.
func (p FirstLook) Resumes() string { return p.Says() + "; the next pass resumes there" }
