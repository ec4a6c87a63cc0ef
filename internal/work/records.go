package work

import "time"

// History is one line of what happened, for people.
type History struct {
	RepoID int64
	ItemID int64 // 0 when it belongs to none
	Number int
	At     time.Time
	What   string
	Detail string
}

// Limit is a host's limit that is reached.
type Limit struct {
	Host      string
	Resource  string
	NotBefore time.Time
	Reason    string
}

// Validator is the ETag of one page of a GitHub list, and the page that it
// said comes next. RepoID 0 is the host itself.
type Validator struct {
	RepoID int64
	URL    string
	ETag   string
	Next   string
	SeenAt time.Time
}
