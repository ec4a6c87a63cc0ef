package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

const justARepo = "[[repo]]\nname = \"octo/app\"\n"

func TestNotify(t *testing.T) {
	c, err := parse(t, justARepo+`
[[notify]]
name = "chat"
command = ["~/bin/tell", "it's \"x\""]
env_pass = ["SLACK_WEBHOOK"]
[[notify]]
name = "mail"
command = ["tell-mail"]
`)
	if err != nil {
		t.Fatal(err)
	}
	chat := c.Notify[0]
	if chat.Name != "chat" || !strings.HasSuffix(chat.Command[0], "/bin/tell") || strings.HasPrefix(chat.Command[0], "~") || chat.Command[1] != `it's "x"` {
		t.Errorf("%+v", chat)
	}
	if got := c.NotifyDoubts(environ.Of([]string{"HOOK=x"})); len(got) != 1 || !strings.Contains(got[0], "SLACK_WEBHOOK") {
		t.Errorf("%q", got)
	}
	if names := c.Targets(); !slices.Equal(names, []string{"chat", "mail"}) {
		t.Error(names)
	}
}

func TestNotifyMistakes(t *testing.T) {
	for doc, want := range map[string]string{
		`command = ["x"]`:                          "name in [[notify]]: missing",
		"name = \"a b\"\ncommand = [\"x\"]":        "is no name",
		`name = "a"`:                               "command in [[notify]]: missing",
		"name = \"a\"\ncommand = []":               "empty; write the program",
		"name = \"a\"\ncommand = [\"bin/x\"]":      "is relative",
		"name = \"a\"\ncommand = [\"x\"]\nfoo = 1": "foo",

		"name = \"a\"\ncommand = [\"x\"]\nenv_pass = [\"GH_TOKEN\"]":                 "GH_TOKEN is never passed",
		"name = \"a\"\ncommand = [\"x\"]\nenv_pass = [\"a b\"]":                      "is no name of a variable",
		"name = \"a\"\ncommand = [\"x\"]\n[[notify]]\nname = \"a\"\ncommand=[\"y\"]": "there are two",
	} {
		_, err := parse(t, justARepo+"[[notify]]\n"+doc+"\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s\n%v\nwant %q", doc, err, want)
		}
	}
}
