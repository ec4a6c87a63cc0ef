package snapshot

import (
	"reflect"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// TestThePolicyIsWhole: the plan gets all of the config that it may use. The example sets every key.
func TestThePolicyIsWhole(t *testing.T) {
	cfg, err := config.Parse("config.toml", []byte(config.Example()), environ.Of([]string{"HOME=/home/op"}), "github.com")
	if err != nil {
		t.Fatal(err)
	}
	loader := New(&env.Env{Config: cfg, Now: time.Now})
	policy := loader.empty(&env.Repo{Remote: env.Remote{Settings: cfg.Repos[0]}, Row: work.Repo{ID: 1}}).Policy
	for _, name := range unset("Policy", reflect.ValueOf(policy)) {
		t.Errorf("the plan is not told %s", name)
	}
}

// unset returns the fields of a struct without a value, those of nested structs as well.
func unset(name string, v reflect.Value) []string {
	if v.Kind() != reflect.Struct {
		if v.IsZero() {
			return []string{name}
		}
		return nil
	}
	var all []string
	for i := range v.NumField() {
		all = append(all, unset(name+"."+v.Type().Field(i).Name, v.Field(i))...)
	}
	return all
}
