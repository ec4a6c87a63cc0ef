package lazy

import "testing"

func TestRegexp(t *testing.T) {
	broken := Regexp(`(`)
	if number := Regexp(`^\d+$`); !number().MatchString("42") {
		t.Error("it matches nothing")
	}
	defer func() {
		if recover() == nil {
			t.Error("one that does not compile says nothing")
		}
	}()
	broken()
}
