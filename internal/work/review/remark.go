package review

import (
	"encoding/json"
	"fmt"
)

// Remarks are the line comments of a review, as its action stores them.
type Remarks struct {
	OnLines []Remark `json:"on_lines"`
	Whole   string   `json:"whole"` // the body of the review with all of them in it, should GitHub take none on its line
}

// Remark is a comment on a line of a file.
type Remark struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Body string `json:"body"` // with its markers
}

// Encode returns the form that an action stores; empty: no comments.
func (r Remarks) Encode() string {
	if len(r.OnLines) == 0 {
		return ""
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain fields
	}
	return string(b)
}

// DecodeRemarks parses what Encode returned.
func DecodeRemarks(s string) (r Remarks, err error) {
	if s == "" {
		return Remarks{}, nil
	}
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		return Remarks{}, fmt.Errorf("decode the comments of a review: %w", err)
	}
	return r, nil
}
