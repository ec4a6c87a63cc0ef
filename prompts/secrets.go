package prompts

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secret is the shape of a credential that is known by its own prefix. Guessing
// by entropy would refuse hashes and fixtures.
type secret struct {
	name  string
	signs []string // one of them stands in every text that has such a credential
	form  func() *regexp.Regexp
}

// form compiles a pattern at its first use: few texts have any sign of a
// secret, and a pass logs before it does anything else.
func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var secrets = []secret{
	{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, form(`\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255})`)},
	{"a private key", []string{"-----BEGIN "}, form(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{"an Anthropic key", []string{"sk-ant-"}, form(`\bsk-ant-[A-Za-z0-9_-]{20,}`)},
	{"an OpenAI key", []string{"sk-"}, form(`\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}`)},
	{"an AWS access key", []string{"AKIA", "ASIA"}, form(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a Slack token", []string{"xox"}, form(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"a Google API key", []string{"AIza"}, form(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a GitLab token", []string{"glpat-"}, form(`\bglpat-[0-9A-Za-z_-]{20,}`)},
}

func (f secret) possible(s string) bool {
	return slices.ContainsFunc(f.signs, func(sign string) bool { return strings.Contains(s, sign) })
}

// FindSecret names the first known kind of credential in the text.
func FindSecret(s string) (what string, ok bool) {
	for _, f := range secrets {
		if f.possible(s) && f.form().MatchString(s) {
			return f.name, true
		}
	}
	return "", false
}

// Redact replaces the known kinds of credential in the text, for logs and
// quotations.
func Redact(s string) string {
	for _, f := range secrets {
		if f.possible(s) {
			s = f.form().ReplaceAllString(s, "[redacted: "+f.name+"]")
		}
	}
	return s
}
