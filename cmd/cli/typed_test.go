package cli

import "testing"

// Commands of this installation get the --config that was given, once; prose, other machines' commands and those
// that a scheduler runs stay as they are.
func TestTypedCommandsNameTheConfig(t *testing.T) {
	for _, c := range []struct{ config, text, want string }{
		{"", "run one: gh mergexo tick", "run one: gh mergexo tick"},
		{"a.toml", "run one: gh mergexo tick", "run one: gh mergexo --config a.toml tick"},
		{"a.toml", "gh mergexo resume --all, then gh mergexo schedule install.", "gh mergexo --config a.toml resume --all, then gh mergexo --config a.toml schedule install."},
		{"a.toml", "`gh mergexo retry octo/app#1`", "`gh mergexo --config a.toml retry octo/app#1`"},
		{"a.toml", "gh mergexo --config a.toml tick", "gh mergexo --config a.toml tick"},
		{"a.toml", "gh mergexo ticks and gh mergexo merges it", "gh mergexo ticks and gh mergexo merges it"},
		{"a.toml", "stop its passes (there: gh mergexo schedule remove)", "stop its passes (there: gh mergexo schedule remove)"},
		{"a.toml", `run "/usr/bin/gh mergexo tick --config /a.toml"`, `run "/usr/bin/gh mergexo tick --config /a.toml"`},
		{"it's mine.toml", "gh mergexo tick", `gh mergexo --config 'it'\''s mine.toml' tick`},
		{"/a gh mergexo tick/x.toml", "gh mergexo retry 1, or gh mergexo tick", "gh mergexo --config '/a gh mergexo tick/x.toml' retry 1, or gh mergexo --config '/a gh mergexo tick/x.toml' tick"},
		{"/a gh mergexo tick/x.toml", "no config at /a gh mergexo tick/x.toml", "no config at /a gh mergexo tick/x.toml"},
	} {
		a := App{ConfigPath: c.config, Commands: []string{"tick", "resume", "retry", "schedule"}}
		if got := a.Typed(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		} else if again := a.Typed(got); again != got {
			t.Errorf("%q: completed once more: %q", c.text, again)
		}
	}
}
