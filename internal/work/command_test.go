package work

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParseCommand(t *testing.T) {
	const none = "no command"
	for _, c := range []struct{ body, want string }{
		{"/mergexo", "/mergexo help"},
		{"/mergexo help", "/mergexo help"},
		{"/mergexo help me", "/mergexo help"},
		{"/mergexo retry", "/mergexo retry"},
		{"\n \r\n  /MergeXO\tRetry \r\nbecause it failed", "/mergexo retry"},
		{"/mergexo small_job", "/mergexo small-job"},
		{"/mergexo unblock", "/mergexo unblock"},
		{"/mergexo unblock --head ABCDEF1", "/mergexo unblock --head abcdef1"},
		{"/mergexo unblock --head=abcdef1", "/mergexo unblock --head abcdef1"},
		{"/mergexo unblock --head main", "/mergexo help: `unblock` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo unblock --head", "/mergexo help: `unblock` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo unblock --head abcdef1 --head abcdef2", "/mergexo help: `unblock` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo unblock --to abcdef1", "/mergexo help: `unblock` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo retry --head abcdef1", "/mergexo help: `retry` takes no arguments, so nothing was done."},
		{"/mergexo approve", "/mergexo approve"},
		{"/mergexo approve --head ABCDEF1.", "/mergexo help: `approve` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo approve --head ABCDEF1", "/mergexo approve --head abcdef1"},
		{"/mergexo approve it", "/mergexo help: `approve` takes nothing but `--head SHA` (7 to 40 hexadecimal digits), so nothing was done."},
		{"/mergexo hold", "/mergexo hold"},
		{"/mergexo hold on", "/mergexo help: `hold` takes no arguments, so nothing was done."},
		{"/mergexo retry now", "/mergexo help: `retry` takes no arguments, so nothing was done."},
		{"/mergexo frobnicate", "/mergexo help: There is no command `frobnicate`, so nothing was done."},
		{"/mergexo rety", "/mergexo help: There is no command `rety`; did you mean `retry`?"},
		{"/mergexo cancle", "/mergexo help: There is no command `cancle`; did you mean `cancel`?"},
		{"/mergexo retry.", "/mergexo retry"},
		{"/mergexo: status", "/mergexo status"},
		{"/mergexo, status!", "/mergexo status"},
		{"/mergexo:", "/mergexo help"},
		{"/mergexo:status", none},
		{"/mergexo <img src=x> @ann", "/mergexo help: This is none of the commands, so nothing was done."},
		{"/mergexo " + strings.Repeat("x", 60_000), "/mergexo help: This is none of the commands, so nothing was done."},
		{"", none},
		{"   \n\n", none},
		{"/mergexoretry", none},
		{"/mergexo-retry", none},
		{"/merge", none},
		{"> /mergexo retry", none},
		{"- /mergexo retry", none},
		{"`/mergexo retry`", none},
		{"    /mergexo retry", none},
		{"\t/mergexo retry", none},
		{"```\n/mergexo retry\n```", none},
		{"<!-- x -->\n/mergexo retry", "/mergexo retry"},
		{"\ufeff<!-- x\ny --> <!---->\u00a0/mergexo retry", "/mergexo retry"},
		{"<!-- x\n/mergexo retry", none},
		{"<!-- x -->\n    /mergexo retry", none},
		{"<!-- x -->\nPlease type\n/mergexo retry", none},
		{"\u00a0/mergexo retry", "/mergexo retry"},
		{"\u00a0\u00a0\u00a0\u00a0/mergexo retry", "/mergexo retry"}, // no code: Markdown counts plain spaces
		{"/mergexo\u00a0retry", "/mergexo retry"},
		{"/mergexo\u2009retry\u202f", "/mergexo retry"},
		{"/mergexo\u3000unblock\u2003--head\u00a0abcdef1", "/mergexo unblock --head abcdef1"},
		{"\u200b\n\u2060/mergexo retry", "/mergexo retry"},
		{"/mer\u00adgexo re\u200dtry\u200e", "/mergexo retry"},
		{"/mergexo\u2028retry", "/mergexo retry"},
		{"\u200b    /mergexo retry", "/mergexo retry"},
		{"Please type\n/mergexo retry", none},
		{"> /mergexo retry\n\n/mergexo cancel", none},
		{"/\u200bmergexo retry", "/mergexo retry"},
	} {
		got := none
		if cmd, ok := ParseCommand(c.body); ok {
			got = cmd.String()
			if cmd.Wrong != "" {
				got += ": " + cmd.Wrong
			}
		}
		if got != c.want {
			t.Errorf("%.60q is %s, not %s", c.body, got, c.want)
		}
	}
}

func TestAnArgumentStandsBehindTheVerb(t *testing.T) {
	number := CommandSpec{Verb: "pick", Argument: CommandArgument{Value: "N", takes: "a number", valid: headPrefix}, Flags: []CommandFlag{headFlag()}}
	words := CommandSpec{Verb: "tell", Argument: CommandArgument{Value: "WHY", Words: true, takes: "the reason"}}
	needs, why := "help: `pick` needs `N` (a number), so nothing was done.", "help: `tell` needs `WHY` (the reason), so nothing was done."
	for _, c := range []struct {
		row  CommandSpec
		args string
		want string
	}{
		{number, "1234567", "pick 1234567"},
		{number, "1234567 --head ABCDEF1", "pick 1234567 abcdef1"},
		{number, "", needs},
		{number, "--head ABCDEF1", needs},
		{number, "1234567 7654321", needs},
		{number, "one", needs},
		{words, "--head  of @it", "tell --head of @it"},
		{words, "", why},
	} {
		got := c.row.parse(strings.Fields(c.args))
		said := strings.Join(strings.Fields(string(got.Verb)+" "+got.Arg+" "+got.Head), " ")
		if got.Wrong != "" {
			said += ": " + got.Wrong
		}
		if said != c.want {
			t.Errorf("%s %s is %s, not %s", c.row.Verb, c.args, said, c.want)
		}
	}
}

// Whatever somebody writes, what we say of it is short and harmless, and what
// we would write ourselves means the same again.
func TestParseCommandIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "/mergexo", "/mergexo ", "\n/MERGEXO\t", "> ", "/mergexo unblock --head ", "/mergexo retry "}).Draw(t, "prefix")
		safe(t, prefix+rapid.String().Draw(t, "rest"))
	})
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"/mergexo", "/mergexo retry", "> /mergexo retry", "/mergexo unblock --head abcdef1", "/mergexo \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) { safe(t, body) })
}

func safe(t interface{ Fatalf(string, ...any) }, body string) {
	c, ok := ParseCommand(body)
	if !ok {
		if c != (Command{}) {
			t.Fatalf("%q is no command, and %+v", body, c)
		}
		return
	}
	said := c.String() + c.Wrong
	if len(said) > 200 || !utf8.ValidString(said) || strings.ContainsAny(said, "\n<>@[]!#*") {
		t.Fatalf("%q is answered with %q", body, said)
	}
	again, ok := ParseCommand(c.String())
	if !ok || again.Verb != c.Verb || again.Head != c.Head || (again.Arg == "") != (c.Arg == "") {
		t.Fatalf("%q is %s, and that is %+v", body, c, again)
	}
}
