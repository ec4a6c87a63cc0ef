package prompts

import "regexp"

// secretForms are the shapes of credentials that are known by their own
// prefix. Guessing by entropy would refuse hashes and fixtures.
var secretForms = []struct {
	name string
	form *regexp.Regexp
}{
	{"a GitHub token", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255})`)},
	{"a private key", regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
	{"an Anthropic key", regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{20,}`)},
	{"an OpenAI key", regexp.MustCompile(`\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}`)},
	{"an AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[0-9A-Za-z_-]{20,}`)},
}

// FindSecret names the first known kind of credential in the text.
func FindSecret(s string) (what string, ok bool) {
	for _, f := range secretForms {
		if f.form.MatchString(s) {
			return f.name, true
		}
	}
	return "", false
}

// Redact replaces the known kinds of credential in the text, for logs and
// quotations.
func Redact(s string) string {
	for _, f := range secretForms {
		s = f.form.ReplaceAllString(s, "[redacted: "+f.name+"]")
	}
	return s
}
