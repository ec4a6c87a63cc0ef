package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Secrets knows what must not leave this machine: the shapes of common
// credentials, and the machine's own tokens exactly. It is the one redactor of
// the program, and may be used by many at once. A nil one knows the shapes.
type Secrets struct {
	mu    sync.RWMutex
	known map[string]string // value → what it is
	order []string          // longest first: a token may be part of another
}

// shortestKnown keeps words of everyday out of what is known: a "token" of a
// few letters would be found everywhere.
const shortestKnown = 12

// Add makes a value known. What is too short to be told from a word is not.
func (s *Secrets) Add(value, what string) {
	value = strings.TrimSpace(value)
	if len(value) < shortestKnown {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]string{}
	}
	if _, ok := s.known[value]; ok {
		return
	}
	s.known[value] = what
	s.order = append(s.order, value)
	slices.SortFunc(s.order, func(a, b string) int { return len(b) - len(a) })
}

// Find lists the secrets in a text: each one, and what it is.
func (s *Secrets) Find(text string) map[string]string {
	found := map[string]string{}
	if s != nil {
		s.mu.RLock()
		for _, value := range s.order {
			if strings.Contains(text, value) {
				found[value] = s.known[value]
			}
		}
		s.mu.RUnlock()
	}
	for _, f := range shapes {
		if !f.possible(text) {
			continue
		}
		for _, m := range f.form().FindAllString(text, -1) {
			if _, ok := found[m]; !ok {
				found[m] = f.name
			}
		}
	}
	return found
}

// Redact replaces the secrets in a text, for logs, comments and quotations.
func (s *Secrets) Redact(text string) string {
	if s != nil {
		s.mu.RLock()
		for _, value := range s.order {
			text = strings.ReplaceAll(text, value, "[redacted: "+s.known[value]+"]")
		}
		s.mu.RUnlock()
	}
	for _, f := range shapes {
		if f.possible(text) {
			text = f.form().ReplaceAllString(text, "[redacted: "+f.name+"]")
		}
	}
	return text
}

// Check gives the violations of an answer that holds a secret, in any string
// of it. An answer is checked once, before it is stored: what counts as a
// secret may be another thing tomorrow, and a stored answer must stay good.
func (s *Secrets) Check(answer []byte) []string {
	value, err := decodeOne(answer)
	if err != nil {
		return []string{s.Redact(quoted(err.Error()))}
	}
	return s.check("answer", value)
}

func (s *Secrets) check(path string, value any) []string {
	var out []string
	switch v := value.(type) {
	case string:
		for _, what := range slices.Sorted(maps.Values(s.Find(v))) {
			out = append(out, fmt.Sprintf("%s holds what looks like %s; secrets are never published", path, what))
		}
	case []any:
		for i, e := range v {
			out = append(out, s.check(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, s.check(path+"."+key, v[key])...)
		}
	}
	return out
}

// Redact takes the known shapes of credentials out of a text.
func Redact(s string) string { return (*Secrets)(nil).Redact(s) }
