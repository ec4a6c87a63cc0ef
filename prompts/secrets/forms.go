package secrets

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// value is a known value.
type value struct{ text, name string }

// form is a text in which a value can leave this machine.
type form struct {
	text string
	of   value
}

// forms are those of all known values, by their first two bytes, so that one walk over a text finds all.
type forms struct {
	begins [1 << 16]bool
	all    map[uint16][]form
}

func formsOf(known map[string]string) *forms {
	f := &forms{all: map[uint16][]form{}}
	for text, name := range known {
		whole, _ := join(text)
		written := append(base64Of(text), whole)
		slices.Sort(written)
		for _, w := range slices.Compact(written) {
			if len(w) >= shortest {
				f.begins[pair(w)] = true
				f.all[pair(w)] = append(f.all[pair(w)], form{w, value{text, name}})
			}
		}
	}
	return f
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// base64Of returns what base64 makes of a text at each place of its groups of three bytes, without the
// digits that also depend on what stands beside the text.
func base64Of(text string) (all []string) {
	for before := range 3 {
		whole := []byte(strings.Repeat("\x00", before) + text)
		first, end := (before*8+5)/6, len(whole)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, alphabet.EncodeToString(whole)[first:end])
		}
	}
	return all
}

// place is where a text has known values that overlap, the longest first.
type place struct {
	from, to int
	values   []value
}

// search returns the places of known values in a text.
func (s *Redactor) search(text string) []place {
	if s == nil || len(text) < shortest {
		return nil
	}
	s.mu.RLock()
	f := s.forms
	s.mu.RUnlock()
	if f == nil {
		s.mu.Lock()
		if s.forms == nil {
			s.forms = formsOf(s.known)
		}
		f = s.forms
		s.mu.Unlock()
	}
	if len(f.all) == 0 {
		return nil
	}
	joined, cuts := join(text)
	var all []place
	cut, shift := 0, 0
	for i := 0; i+1 < len(joined); i++ {
		if !f.begins[uint16(joined[i])<<8|uint16(joined[i+1])] {
			continue
		}
		for _, form := range f.all[pair(joined[i:])] {
			if !strings.HasPrefix(joined[i:], form.text) {
				continue
			}
			for ; cut < len(cuts) && cuts[cut].at <= i; cut++ {
				shift += cuts[cut].length
			}
			to := i + len(form.text) + shift
			for _, c := range cuts[cut:] {
				if c.at >= i+len(form.text) {
					break
				}
				to += c.length
			}
			all = append(all, place{i + shift, to, []value{form.of}})
		}
	}
	return merged(all)
}

// merged joins the places that overlap.
func merged(all []place) (out []place) {
	sorted.By(all, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	for _, p := range all {
		last := len(out) - 1
		if last < 0 || out[last].to <= p.from {
			out = append(out, p)
			continue
		}
		out[last].to = max(out[last].to, p.to)
		out[last].values = append(out[last].values, p.values...)
	}
	for _, p := range out {
		sorted.By(p.values, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return out
}

// removed is what was taken out of a text: length bytes, right before byte at of what is left.
type removed struct{ at, length int }

// join takes the line breaks, with the blanks at them, out of a text.
func join(text string) (string, []removed) {
	if strings.IndexByte(text, '\n') < 0 {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	var cuts []removed
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '\n')
		if at < 0 {
			return string(append(b, text[from:]...)), cuts
		}
		end, next := from+at, from+at+1
		for end > from && blank(text[end-1]) {
			end--
		}
		for next < len(text) && (blank(text[next]) || text[next] == '\n') {
			next++
		}
		b = append(b, text[from:end]...)
		cuts = append(cuts, removed{len(b), next - end})
		from = next
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
