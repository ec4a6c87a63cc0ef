package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
)

func voiceOf(t *testing.T, table string) (config.Voice, error) {
	t.Helper()
	c, err := parse(t, minimal+"[repo.voice]\n"+table)
	if err != nil {
		return config.Voice{}, err
	}
	return c.Repos[0].Voice, nil
}

func TestVoiceIsRead(t *testing.T) {
	v, err := voiceOf(t, "")
	if err != nil || v.Disclosure != config.DefaultDisclosure || v.SignOff || v.Spending || !slices.Equal(v.Trailers, []string{"Assisted-by: {agent}"}) {
		t.Errorf("by default %+v, %v", v, err)
	}
	v, err = voiceOf(t, `disclosure = "By {agent}."
author = "Ann Example <ann@example.com>"
committer = "J. Döe <j@example.com>"
sign_off = "Olga Op <olga@example.com>"
trailers = ["Change-Kind: agent", "Co-authored-by: {agent} <x@example.com>"]
spending = true
`)
	want := config.Person{Name: "Olga Op", Mail: "olga@example.com"}
	if err != nil || v.Disclosure != "By {agent}." || v.Author.String() != "Ann Example <ann@example.com>" || v.Committer.Name != "J. Döe" ||
		!v.SignOff || v.Signer != want || len(v.Trailers) != 2 || !v.Spending {
		t.Errorf("%+v, %v", v, err)
	}
	for table, shown := range map[string]string{"disclosure = true": config.DefaultDisclosure, "disclosure = false": "", `disclosure = ""`: ""} {
		if v, err := voiceOf(t, table); err != nil || v.Disclosure != shown {
			t.Errorf("%s: %q, %v", table, v.Disclosure, err)
		}
	}
	if v, err := voiceOf(t, "sign_off = true\ntrailers = []"); err != nil || !v.SignOff || v.Signer != (config.Person{}) || len(v.Trailers) != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestWhatCannotBeSaidIsRefused(t *testing.T) {
	for table, want := range map[string]string{
		"disclosure = 3":                                   "true, false, or the line",
		`disclosure = "two\nlines"`:                        "one line",
		`disclosure = "<!-- hidden"`:                       "HTML comment",
		`disclosure = "/mergexo cancel"`:                   "like a command",
		`disclosure = "` + strings.Repeat("x", 501) + `"`:  "500 characters",
		`author = "ann"`:                                   `such as "Ann Example <ann@example.com>"`,
		`committer = "<ann@example.com>"`:                  "want a person",
		"disclosure = '```'":                               "block of code",
		`disclosure = "~~~ by {agent}"`:                    "block of code",
		`author = "=?utf-8?q?Ann=0AX?= <ann@example.com>"`: "want a person",
		`disclosure = "true"`:                              "write true without quotes",
		`disclosure = "By {agnt} for {operator}"`:          "contains {agnt}, which is no placeholder; want {agent} or {operator}",
		"sign_off = 1":                                     "want true, false, or who signs",
		`sign_off = "true"`:                                "write true without quotes",
		`sign_off = "somebody"`:                            "want a person",
		`trailers = ["no trailer"]`:                        "is no trailer",
		`trailers = ["Made-for: {operator}"]`:              "contains {operator}, which is no placeholder; want {agent}",
		`trailers = ["Mergexo-Turn: 1"]`:                   "written by gh mergexo itself",
		`trailers = ["Signed-off-by: A <a@b.c>"]`:          "use sign_off",
		"trailer = []":                                     "trailers",
	} {
		if _, err := voiceOf(t, table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", table, err, want)
		}
	}
}
