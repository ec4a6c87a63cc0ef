package folder

import (
	"os"
	"reflect"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What the folder remembers of accounts is read as it was written; a damaged file says nothing.
func TestAccountsAreRemembered(t *testing.T) {
	d := At(t.TempDir())
	read := func() map[string][]work.Account {
		got, err := d.Accounts()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := read(); got != nil {
		t.Errorf("a new folder remembers %v", got)
	}
	want := map[string][]work.Account{"github.com": {{ID: 7, Login: "ann"}, {ID: 8, Login: "robot[bot]", Bot: true}}}
	if err := d.RememberAccounts(want); err != nil || !reflect.DeepEqual(read(), want) {
		t.Errorf("it remembers %v, %v", read(), err)
	}
	for _, damaged := range []string{"", `{"github.com":[{"ID"`, `{"github.com":7}`} {
		if err := os.WriteFile(d.accountsFile(), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != nil {
			t.Errorf("%q is read as %v", damaged, got)
		}
	}
}
