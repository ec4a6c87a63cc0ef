package folder

import "testing"

// A copy of a state folder on a machine with another id is another installation. The name on each
// machine, also on one without an id, never changes.
func TestInstallationOfACopy(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	names := map[string]string{}
	for _, machine := range []string{"one", "two", "", "one", "two", ""} {
		name, err := d.Installation(machine)
		if err != nil {
			t.Fatal(err)
		}
		if before, known := names[machine]; known && before != name {
			t.Errorf("on machine %q it was %q and is %q", machine, before, name)
		}
		names[machine] = name
	}
	if names["one"] == names["two"] || names["one"] == names[""] || names[""] == "" {
		t.Errorf("the names are %q", names)
	}
}
