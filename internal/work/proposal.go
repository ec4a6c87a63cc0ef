package work

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// Proposal is work outside of an issue's scope that an agent found worth an issue of its own: a
// follow-up. A person may have it opened by its number, which no later turn changes.
type Proposal struct {
	Number int    `json:"n"` // from 1, unique in the issue
	Title  string `json:"title"`
	Why    string `json:"why"`
}

// NumberProposals returns the new ones among proposals of an answer, numbered after those that the
// issue has. An agent may propose one again in a later answer: it keeps its number.
func NumberProposals(known, found []Proposal) (added []Proposal) {
	next := 1
	for _, p := range known {
		next = max(next, p.Number+1)
	}
	for _, p := range found {
		same := func(o Proposal) bool {
			return strings.EqualFold(strings.TrimSpace(o.Title), strings.TrimSpace(p.Title))
		}
		if !slices.ContainsFunc(known, same) && !slices.ContainsFunc(added, same) {
			p.Number = next + len(added)
			added = append(added, p)
		}
	}
	return added
}

// MarkProposals returns the marker of a text that lists proposals, for a pass whose database was
// lost.
func MarkProposals(all []Proposal) string {
	if len(all) == 0 {
		return ""
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Proposed returns the proposals that the marker of a body lists. It does not prove who wrote the
// body.
func Proposed(body string) (all []Proposal) {
	m, _ := ParseMarks(body)
	b, _ := base64.RawURLEncoding.DecodeString(m.Proposals) // invalid base64 gives no valid JSON
	if err := json.Unmarshal(b, &all); err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(p Proposal) bool { return p.Number <= 0 || strings.TrimSpace(p.Title) == "" })
}
