package status

import "time"

// Brief is an open work item, described as in status.
type Brief struct {
	Repo    string // as people call it
	Number  int
	Title   string
	URL     string
	Flow    string
	State   string
	Since   time.Time
	Why     string // why it waits
	Code    string // the reason as a code
	Next    string // who must do what
	Pull    int    // 0: none yet
	PullURL string
	Stopped bool // a person must act
}

// Briefs returns the open work items of a board.
func (b Board) Briefs() []Brief {
	var all []Brief
	for _, f := range b.items {
		if !f.State.Open() {
			continue
		}
		r := f.row()
		brief := Brief{
			Repo: f.Called, Number: f.Number, Title: f.Title, URL: f.URL, Flow: string(f.Flow), State: r.state, Since: r.since,
			Why: r.waits, Code: string(r.code), Next: r.next, Stopped: f.State.Stands(),
		}
		if f.HasPull() {
			brief.Pull, brief.PullURL = f.Pull.Number, f.Pull.URL
		}
		all = append(all, brief)
	}
	return all
}
