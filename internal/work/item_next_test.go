package work_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Each field of an item is one of its issue, which new work on that has too, or one of its work. A new field has to
// say which.
func TestNextHasWhatIsKnownOfTheIssue(t *testing.T) {
	ofIssue := []string{"RepoID", "Number", "Title", "Body", "Author", "URL", "Priority", "Label", "LabelEvent", "Edited", "IssueClosed", "SubIssueOf"}
	ofWork := []string{
		"ID", "Reason", "Branch", "Document", "TouchPaths", "DesignPull", "DesignCommit", "Size", "DependsOn", "DecisionSummary",
		"Wait", "Blocked", "Fingerprint", "Setup",
	}
	given := []string{"Flow", "Parent", "State", "Since"}
	var i work.Item
	v := reflect.ValueOf(&i).Elem()
	for _, field := range v.Fields() {
		fillField(field)
	}
	next := reflect.ValueOf(i.Next(work.FlowImplementation, work.StateReady, time.Unix(9, 0)))
	for n := range v.NumField() {
		name := v.Type().Field(n).Name
		same := reflect.DeepEqual(next.Field(n).Interface(), v.Field(n).Interface())
		switch {
		case slices.Contains(given, name):
		case slices.Contains(ofIssue, name) == slices.Contains(ofWork, name):
			t.Errorf("%s is not in one of the lists", name)
		case same != slices.Contains(ofIssue, name), !same && !next.Field(n).IsZero():
			t.Errorf("%s: new work has it: %t", name, same)
		}
	}
	if got := i.Next(work.FlowImplementation, work.StateReady, time.Unix(9, 0)); got.Parent != i.ID || got.Flow != work.FlowImplementation || got.State != work.StateReady {
		t.Errorf("%+v", got)
	}
}

// fillField makes a field differ from its zero value.
func fillField(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the kinds that an item has
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(8, 0)))
			return
		}
		for _, field := range v.Fields() {
			fillField(field)
		}
	}
}
