package config_test

import (
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
	if err != nil || v.Disclosure != config.DefaultDisclosure || v.SignOff {
		t.Errorf("by default %+v, %v", v, err)
	}
	v, err = voiceOf(t, `disclosure = "By {agent}."
sign_off = "Olga Op <olga@example.com>"
`)
	want := config.Person{Name: "Olga Op", Mail: "olga@example.com"}
	if err != nil || v.Disclosure != "By {agent}." || !v.SignOff || v.Signer != want {
		t.Errorf("%+v, %v", v, err)
	}
	for table, shown := range map[string]string{"disclosure = true": config.DefaultDisclosure, "disclosure = false": "", `disclosure = ""`: ""} {
		if v, err := voiceOf(t, table); err != nil || v.Disclosure != shown {
			t.Errorf("%s: %q, %v", table, v.Disclosure, err)
		}
	}
	if v, err := voiceOf(t, "sign_off = true"); err != nil || !v.SignOff || v.Signer != (config.Person{}) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestWhatCannotBeSaidIsRefused(t *testing.T) {
	for table, want := range map[string]string{
		"disclosure = 3":                                  "true, false, or the line",
		`disclosure = "two\nlines"`:                       "one line",
		`disclosure = "<!-- hidden"`:                      "HTML comment",
		`disclosure = "/mergexo cancel"`:                  "like a command",
		`disclosure = "` + strings.Repeat("x", 501) + `"`: "500 characters",
		"disclosure = '```'":                              "block of code",
		`disclosure = "~~~ by {agent}"`:                   "block of code",
		`disclosure = "true"`:                             "write true without quotes",
		`disclosure = "By {agnt} for {operator}"`:         "contains {agnt}, which is no placeholder; want {agent} or {operator}",
		"sign_off = 1":                                    "want true, false, or who signs",
		`sign_off = "true"`:                               "write true without quotes",
		`sign_off = "somebody"`:                           "want a person",
	} {
		if _, err := voiceOf(t, table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", table, err, want)
		}
	}
}
