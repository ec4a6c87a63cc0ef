package work

import "testing"

func TestParseDependency(t *testing.T) {
	home := RepoName{Host: "github.com", Owner: "o", Name: "r"}
	for in, want := range map[string]string{
		"#12": "github.com/o/r#12", "12": "github.com/o/r#12", "a/b#3": "github.com/a/b#3", "needs #4 first": "github.com/o/r#4",
		"https://github.com/a/b/issues/5": "github.com/a/b#5", "o/r#6.": "github.com/o/r#6",
		"": "", "nothing": "", "#0": "", "a/b/c/d#1": "", "#-1": "",
	} {
		got, ok := ParseDependency(in, home)
		if (want != "") != ok || ok && got.String() != want {
			t.Errorf("%q: %v, %v; want %q", in, got, ok, want)
		}
	}
}
