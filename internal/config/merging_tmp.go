package config

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// MergePolicy stands in until the config has it.
func (r Repo) MergePolicy(work.Flow) merging.Policy {
	return merging.Policy{Auto: true, Watch: time.Hour, ChecksTimeout: time.Hour, Freeze: "agent:freeze", DeleteBranch: merging.Yes}
}
