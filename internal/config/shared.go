package config

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Shared returns what machines with one database should have alike, for work.Machine.Unlike: by repository, a
// hash of each part.
func (c *Config) Shared() string {
	all := map[string]map[string]string{}
	for _, r := range c.Repos {
		merging := r.Review.Merge
		r.Review.Merge = Merging{}
		r.Reviewers = slices.Clone(r.Reviewers)
		for i := range r.Reviewers {
			r.Reviewers[i].Line = 0 // the same table may be on another line
		}
		hash := func(values ...any) string { return work.ContentHash(fmt.Sprintf("%+v", values)) }
		all[c.Called(r.Name)] = map[string]string{
			"labels": hash(r.Labels), "reviewers": hash(r.Reviewers, r.Review, r.AllowedUsers), "merging": hash(merging),
		}
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // texts always encode
	return string(text)
}
