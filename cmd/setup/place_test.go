package setup

import (
	"strings"
	"testing"
)

// A login in an address is neither taken nor told.
func TestNoLoginOfAnAddressIsTold(t *testing.T) {
	for _, typed := range []string{"https://me:hunter2@github.com/octo/app/x", "me:hunter2@octo/app", "https://me:hunter2@github.com/octo/app.git"} {
		repo, err := parseName(typed)
		if err == nil && repo.String() != "github.com/octo/app" || err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, %v", repo, err)
		}
	}
}
