package transport

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// An older server refuses every document with a field that its schema lacks. The lines of a document
// that end with this mark are left out for such a server; each line has complete fields only.
const optional = "# optional"

// documents remembers what a server answered to documents that it does not understand, as long as
// this process runs.
type documents struct {
	mu      sync.Mutex
	instead map[string]string  // by document: what is sent instead
	refused map[string]*Answer // by document: the answer to one that cannot do without what the server lacks
}

// known returns what to send for a document, or the answer if the server refuses it.
func (d *documents) known(document string) (send string, refused *Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if send, known := d.instead[document]; known {
		return send, d.refused[document]
	}
	return document, d.refused[document]
}

// learn reads what an answer to a document shows about the server. It reports whether to ask again
// without the fields that the server lacks. sent is what was sent for the document.
func (d *documents) learn(document, sent string, a *Answer) (again bool) {
	lacks, all := lacking(a)
	if len(lacks) == 0 {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.instead == nil {
		d.instead, d.refused = map[string]string{}, map[string]*Answer{}
	}
	less, ok := withoutFields(sent, lacks)
	if !ok || !all {
		d.refused[document] = a
		return false
	}
	d.instead[document] = less
	return true
}

// lacking returns the fields that a refusal of a document names; all reports whether the document
// was refused for nothing else. Answers with data are not decoded.
func lacking(a *Answer) (fields []string, all bool) {
	if bytes.HasPrefix(a.Body, []byte(`{"data":{`)) {
		return nil, false
	}
	var g struct {
		Data   json.RawMessage `json:"data"`
		Errors []GraphError    `json:"errors"`
	}
	if json.Unmarshal(a.Body, &g) != nil || len(g.Data) > 0 && string(g.Data) != "null" {
		return nil, false
	}
	named := map[string]bool{}
	for _, e := range g.Errors {
		if e.Extensions.Code == "undefinedField" && e.Extensions.FieldName != "" {
			named[e.Extensions.FieldName] = true
		}
	}
	fields = slices.Sorted(maps.Keys(named))
	return fields, !slices.ContainsFunc(g.Errors, func(e GraphError) bool { return !named[e.Extensions.FieldName] })
}

// withoutFields leaves out the optional lines of a document with these fields. It reports false if a
// field is also in another line, or in none.
func withoutFields(document string, fields []string) (string, bool) {
	met := map[string]bool{}
	var out strings.Builder
	for line := range strings.Lines(document) {
		text, comment, _ := strings.Cut(line, "#")
		has := slices.DeleteFunc(words(text), func(w string) bool { return !slices.Contains(fields, w) })
		mayGo := strings.TrimSpace("#"+comment) == optional
		if len(has) > 0 && !mayGo {
			return "", false
		}
		if len(has) == 0 {
			out.WriteString(line)
		}
		for _, w := range has {
			met[w] = true
		}
	}
	return out.String(), len(met) == len(fields)
}

// words returns the names in a line of a document.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
