package githubsim

import "testing"

func TestProbe(t *testing.T) {
	_, err := newGraphQL(&Hub{})
	if err != nil {
		t.Fatal(err)
	}
}
