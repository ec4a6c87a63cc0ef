package public

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var (
	// shownNames are the elements that GitHub keeps. Of others it shows only what is in them.
	shownNames = slices.Concat(flowNames, blockNames, voidNames, []string{
		"abbr", "bdo", "caption", "center", "cite", "dfn", "figcaption", "figure", "h7", "h8", "pre", "rp", "rt", "ruby", "time",
	})
	// textNames are the elements whose tags GitHub shows as text.
	textNames = []string{"iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"}
	// layoutNames are the attributes that may have a layoutValue.
	layoutNames = []string{"align", "border", "colspan", "dir", "height", "open", "rowspan", "start", "valign", "width"}

	layoutValue = lazy.Regexp(`^(?:[0-9]{1,5}(?:px|%)?|left|right|center|top|middle|bottom|auto|ltr|rtl)?$`)
	tagName     = lazy.Regexp(`^<(/?)([A-Za-z][^\s/>]*)`)
	attribute   = lazy.Regexp(`^[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*("[^"]*(?:"|\z)|'[^']*(?:'|\z)|[^\s>"'][^\s>]*)?)?`)
	tagEnd      = lazy.Regexp(`^[\s/]*>`)
)

// element is a tag of an element that GitHub keeps.
type element struct {
	name   string
	closes bool
	hidden bool
}

// readTags decides on text and tags as a browser reads the page. A hidden element ends with its end
// tag if those of all elements in it came before. Browsers have many rules for others: where one would
// end it earlier, shown text is left out, too.
func (p *page) readTags() {
	page := string(p.html)
	begin := 0
	var hidden []string // the hidden element, and those that are open in it
	for at, end := 0, 0; at < len(page); at = end {
		var e element
		e, end = p.markup(page, at)
		inner := len(hidden) - 1
		void := slices.Contains(voidNames, e.name)
		switch {
		case e.closes:
			if inner >= 0 && hidden[inner] == e.name {
				hidden = hidden[:inner]
			}
			if inner == 0 && len(hidden) == 0 {
				p.hide(begin, end)
			}
		case e.name == "":
		case void:
			if e.hidden {
				p.hide(at, end)
			}
		case inner >= 0:
			hidden = append(hidden, e.name)
		case e.hidden:
			begin, hidden = at, []string{e.name}
		}
	}
	if len(hidden) > 0 {
		p.hide(begin, len(page))
	}
}

// hide drops the source of a part of the page that begins with a tag, and what is between.
func (p *page) hide(from, to int) {
	p.drop(p.places[from], slices.Max(p.places[from:to])+1)
	p.set(from, to, dropped)
}

// set decides on the source of a part of the page.
func (p *page) set(from, to int, f fate) {
	for _, at := range p.places[from:to] {
		if at != nowhere {
			p.fates[at] = f
		}
	}
}

// markup decides on the text, tag or comment that begins at a place of the page, and returns its end.
// What has none takes the rest of the page.
func (p *page) markup(page string, at int) (element, int) {
	rest := page[at:]
	length := 0
	name := tagName().FindStringSubmatch(rest)
	switch {
	case name != nil && !slices.Contains(textNames, strings.ToLower(name[2])):
		return p.tag(page, at, name)
	case strings.HasPrefix(rest, commentOpen):
		if length = commentEnd(rest); length > 0 {
			p.given += utf8.RuneCountInString(rest[:length])
		}
	case name == nil && len(rest) > 1 && rest[0] == '<' && strings.IndexByte("!?/", rest[1]) >= 0: // to a browser it is a comment
		length = strings.IndexByte(rest, '>') + 1
	default:
		if length = strings.IndexByte(rest[1:], '<') + 1; length == 0 {
			length = len(rest)
		}
		p.set(at, at+length, kept)
		return element{}, at + length
	}
	end := at + length
	if length == 0 {
		end = len(page)
	}
	p.set(at, end, dropped)
	return element{}, end
}

// tag keeps the name of a tag, and of its attributes those that may stay.
func (p *page) tag(page string, at int, start []string) (element, int) {
	e := element{name: strings.ToLower(start[2]), closes: start[1] != ""}
	e.hidden = e.name == "rp"
	end := at + len(start[0])
	p.set(at, end, kept)
	for {
		last := tagEnd().FindString(page[end:])
		if last != "" {
			p.set(end, end+len(last), kept)
			end += len(last)
			break
		}
		m := attribute().FindStringSubmatchIndex(page[end:])
		if m == nil {
			p.set(at, len(page), dropped)
			return element{}, len(page)
		}
		name, value := strings.ToLower(page[end+m[2]:end+m[3]]), ""
		if m[4] >= 0 {
			value = strings.Trim(page[end+m[4]:end+m[5]], `"'`)
		}
		e.hidden = e.hidden || name == "hidden"
		p.set(end, end+m[2], kept)
		if e.closes || !p.attribute(name, value) {
			p.set(end+m[2], end+m[1], dropped)
		} else {
			p.set(end+m[2], end+m[1], kept)
		}
		end += m[1]
	}
	if !slices.Contains(shownNames, e.name) {
		p.set(at, end, dropped)
		return element{}, end
	}
	return e, end
}

// attribute reports whether an attribute of a tag stays.
func (p *page) attribute(name, value string) bool {
	switch name {
	case "href", "src":
		return p.address(value) == value
	case "alt", "title":
		return p.tip(value)
	default:
		return slices.Contains(layoutNames, name) && layoutValue().MatchString(value)
	}
}
