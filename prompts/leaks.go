package prompts

import "github.com/mergexo/gh-mergexo/prompts/secrets"

// Leaks gives the violations of an answer that holds a secret, in any string of
// it. An answer is checked once, before it is stored: what counts as a secret
// may be another thing tomorrow, and a stored answer must stay good.
func Leaks(known *secrets.Redactor, answer []byte) []string {
	value, err := decodeOne(answer)
	if err != nil {
		return []string{known.Redact(quoted(err.Error()))}
	}
	return known.Check("answer", value)
}
