package work

import "time"

// History is one line of an item's history, for people.
type History struct {
	RepoID int64
	ItemID int64 // 0: it belongs to no item
	Number int
	At     time.Time
	What   string
	Detail string
}

// Limit is a rate limit of a host that was reached.
type Limit struct {
	Host      string
	Resource  string
	NotBefore time.Time
	Reason    string
}

// Validator is the ETag of one page of a GitHub list, and the URL of the next page. RepoID 0 is the
// host itself.
type Validator struct {
	RepoID int64
	URL    string
	ETag   string
	Next   string
	SeenAt time.Time
}
