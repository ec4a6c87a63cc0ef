package work

import "testing"

func TestACommandLineIsReadAsItsArguments(t *testing.T) {
	if got, want := CommandLine([]string{"sh", "-c", "a 'b' $c", "", "x.go"}), `sh -c 'a '\''b'\'' $c' '' x.go`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
