// Package secrets finds credentials in text, and takes them out: by the patterns
// that providers made to be found, and the machine's own exactly.
package secrets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Redactor knows what must not leave this machine: the patterns of common
// credentials, and the machine's own tokens exactly. There is one for the whole
// program, and it may be used by many at once. A nil one knows the patterns.
type Redactor struct {
	mu    sync.RWMutex
	known map[string]string // value → what it is
	order []string          // longest first: a token may be part of another
}

// shortest is how long a secret is at least. It keeps words of everyday out of what is
// known: a "token" of a few letters would be found everywhere. No pattern matches less, so
// that most of what is logged, a few letters, is not looked through for each of them.
const shortest = 12

// Add makes a value known. What is too short to be told from a word is not.
func (s *Redactor) Add(value, what string) {
	value = strings.TrimSpace(value)
	if len(value) < shortest {
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
func (s *Redactor) Find(text string) map[string]string {
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
	for _, p := range patterns {
		if !p.possible(text) {
			continue
		}
		for _, m := range p.expr().FindAllString(text, -1) {
			if _, ok := found[m]; !ok {
				found[m] = p.name
			}
		}
	}
	return found
}

// Redact replaces the secrets in a text, for logs, comments and quotations.
func (s *Redactor) Redact(text string) string {
	if len(text) < shortest {
		return text
	}
	if s != nil {
		s.mu.RLock()
		for _, value := range s.order {
			text = strings.ReplaceAll(text, value, "[redacted: "+s.known[value]+"]")
		}
		s.mu.RUnlock()
	}
	for _, p := range patterns {
		if p.possible(text) {
			text = p.expr().ReplaceAllString(text, "[redacted: "+p.name+"]")
		}
	}
	return text
}

// Check gives the violations of a decoded JSON value that holds a secret in any
// string of it; name is what they call the value.
func (s *Redactor) Check(name string, value any) []string {
	var out []string
	switch v := value.(type) {
	case string:
		for _, what := range slices.Sorted(maps.Values(s.Find(v))) {
			out = append(out, fmt.Sprintf("%s holds what looks like %s; secrets are never published", name, what))
		}
	case []any:
		for i, e := range v {
			out = append(out, s.Check(fmt.Sprintf("%s[%d]", name, i), e)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, s.Check(name+"."+key, v[key])...)
		}
	}
	return out
}

// Redact takes the known patterns of credentials out of a text.
func Redact(s string) string { return (*Redactor)(nil).Redact(s) }
