package prompts

// Handoff is the merged design given to an implementation.
type Handoff struct {
	DocumentPath string   `json:"document_path"`
	Document     string   `json:"document"`     // its text as it was merged
	MergeCommit  string   `json:"merge_commit"` // of the design's pull request
	Base         string   `json:"base"`
	BaseSHA      string   `json:"base_sha"`
	Decisions    []string `json:"decisions"` // accepted
	NonGoals     []string `json:"non_goals"`
	Criteria     []string `json:"criteria"` // by which it is accepted
	TouchPaths   []string `json:"touch_paths"`
	Risks        []string `json:"risks"`
}

// Check is a red check of a head.
type Check struct {
	Name        string       `json:"name"`
	Conclusion  string       `json:"conclusion"` // as GitHub says it: failure, timed_out, …
	URL         string       `json:"url"`
	Summary     string       `json:"summary"`
	Annotations []Annotation `json:"annotations"`
	Log         string       `json:"log"` // its end
}

// Annotation is a check's message about a line.
type Annotation struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Level   string `json:"level"` // failure, warning or notice
	Message string `json:"message"`
}

// Conflict is why a head does not merge. The checkout is in the middle of that merge, with conflict
// markers in the listed files.
type Conflict struct {
	Base    string   `json:"base"`
	BaseSHA string   `json:"base_sha"`
	HeadSHA string   `json:"head_sha"`
	Paths   []string `json:"paths"`
	Log     string   `json:"log"` // what the merge said
}
