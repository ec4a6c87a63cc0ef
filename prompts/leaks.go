package prompts

import "github.com/mergexo/gh-mergexo/prompts/secrets"

// Leaks returns violations for secrets in any string of an answer. An answer is checked once,
// before it is stored: the patterns may change later, and a stored answer must stay valid.
func Leaks(known *secrets.Redactor, answer []byte) []string {
	value, err := decodeOne(answer)
	if err != nil {
		return []string{known.Redact(quoted(err.Error()))}
	}
	return known.Check("answer", value)
}
