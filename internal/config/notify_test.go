package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

const justARepo = "[[repo]]\nname = \"octo/app\"\n"

func TestNotify(t *testing.T) {
	c, err := parse(t, justARepo+`
[[notify]]
name = "chat"
command = ["~/bin/tell", "it's \"x\""]
env_pass = ["SLACK_WEBHOOK"]
kinds = ["question", "pass_failing"]
[[notify]]
name = "hook"
webhook = "https://example.com/T0/B0"
secret_env = "HOOK"
[[notify]]
name = "here"
webhook = "http://127.0.0.1:8080/x"
`)
	if err != nil {
		t.Fatal(err)
	}
	chat, hook := c.Notify[0], c.Notify[1]
	if chat.Name != "chat" || !strings.HasSuffix(chat.Command[0], "/bin/tell") || strings.HasPrefix(chat.Command[0], "~") || chat.Command[1] != `it's "x"` ||
		!slices.Equal(chat.Kinds, []news.Kind{news.Question, news.PassFailing}) || chat.Webhook != "" {
		t.Errorf("%+v", chat)
	}
	if !slices.Equal(hook.Kinds, news.All()) || hook.Webhook != "https://example.com/T0/B0" || hook.SecretEnv != "HOOK" || len(hook.Command) > 0 {
		t.Errorf("%+v", hook)
	}
	if got := c.NotifyDoubts(environ.Of([]string{"HOOK=x"})); len(got) != 1 || !strings.Contains(got[0], "SLACK_WEBHOOK") {
		t.Errorf("%q", got)
	}
	names := []string{}
	for _, target := range c.Targets() {
		names = append(names, target.Name)
	}
	if fmt.Sprint(names) != "[chat hook here]" {
		t.Error(names)
	}
}

func TestNotifyMistakes(t *testing.T) {
	for doc, want := range map[string]string{
		`command = ["x"]`:                   "name in [[notify]]: missing",
		"name = \"a b\"\ncommand = [\"x\"]": "is no name",
		`name = "a"`:                        "write either command",
		"name = \"a\"\ncommand = [\"x\"]\nwebhook = \"https://h/\"":                  "write either command",
		"name = \"a\"\ncommand = []":                                                 "empty; write the program",
		"name = \"a\"\ncommand = [\"bin/x\"]":                                        "is relative",
		"name = \"a\"\ncommand = [\"x\"]\nenv_pass = [\"GH_TOKEN\"]":                 "GH_TOKEN is never passed",
		"name = \"a\"\ncommand = [\"x\"]\nenv_pass = [\"a b\"]":                      "is no name of a variable",
		"name = \"a\"\nwebhook = \"https://h/\"\nsecret_env = \"a b\"":               `secret_env in [[notify]]: "a b" is no name of a variable`,
		"name = \"a\"\ncommand = [\"x\"]\nsecret_env = \"K\"":                        "is for a webhook",
		"name = \"a\"\nwebhook = \"https://h/\"\nenv_pass = [\"K\"]":                 "is for a command",
		"name = \"a\"\nwebhook = \"http://10.0.0.1/\"":                               "plain text",
		"name = \"a\"\nwebhook = \"http://example.com/\"":                            "plain text",
		"name = \"a\"\nwebhook = \"http://127.0.0.1.example.com/\"":                  "plain text",
		"name = \"a\"\nwebhook = \"ftp://h/SECRET\"":                                 "is no address",
		"name = \"a\"\nwebhook = \"example.com/x\"":                                  "is no address",
		"name = \"a\"\nwebhook = \"https://me:pw@h/\"":                               "user name or password",
		"name = \"a\"\ncommand = [\"x\"]\nkinds = [\"merge\"]":                       `did you mean "merged"`,
		"name = \"a\"\ncommand = [\"x\"]\n[[notify]]\nname = \"a\"\ncommand=[\"y\"]": "there are two",
		"name = \"a\"\ncommand = [\"x\"]\nfoo = 1":                                   "foo",
	} {
		_, err := parse(t, justARepo+"[[notify]]\n"+doc+"\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s\n%v\nwant %q", doc, err, want)
		}
	}
}
