package schedule

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// label is the job's name in launchd.
func (j Job) label() string { return "io.github.mergexo." + j.Name() }

// property returns the job's property list.
func property(j Job) string {
	var args, env strings.Builder
	for _, w := range j.Command(Launchd) {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", xmlText(w))
	}
	for _, v := range j.Env {
		fmt.Fprintf(&env, "\t\t<key>%s</key>\n\t\t<string>%s</string>\n", xmlText(v.Name), xmlText(v.Value))
	}
	log := xmlText(filepath.Join(j.Logs, "launchd.log"))
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>EnvironmentVariables</key>
	<dict>
%s	</dict>
	<key>StartInterval</key>
	<integer>%d</integer>
	<key>RunAtLoad</key>
	<true/>
	<!-- The pass works on when this has ended. -->
	<key>AbandonProcessGroup</key>
	<true/>
	<key>StandardOutPath</key>
	<string>%s</string>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`, j.header(), j.label(), args.String(), env.String(), int(j.Every/time.Second), log, log)
}

func xmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// readProperty parses a property list. Parts that somebody changed by hand are missing.
func readProperty(j Job, text string) Job {
	found := Job{Config: j.Config, Default: j.Default, Logs: j.Logs, Since: sinceOf(text)}
	for _, s := range propertyStrings(text) {
		switch {
		case len(s.path) == 1 && s.path[0] == "StartInterval":
			if n, err := strconv.Atoi(s.text); err == nil {
				found.Every = time.Duration(n) * time.Second
			}
		case len(s.path) == 2 && s.path[0] == "EnvironmentVariables":
			found.Env = append(found.Env, Var{s.path[1], s.text})
		case len(s.path) > 0 && s.path[0] == "ProgramArguments" && found.Gh == "":
			found.Gh = s.text
		}
	}
	return found
}

// propertyString is a text in a property list, with the keys above it.
type propertyString struct {
	path []string
	text string
}

func propertyStrings(text string) (all []propertyString) {
	d := xml.NewDecoder(strings.NewReader(text))
	var path []string // the last key of each open dictionary
	var at string
	for {
		token, err := d.Token()
		if err != nil {
			return all // at its end, or invalid
		}
		switch t := token.(type) {
		case xml.StartElement:
			if at = t.Name.Local; at == "dict" {
				path = append(path, "")
			}
			if at != "key" && at != "string" && at != "integer" {
				continue
			}
			s, err := elementText(d)
			if err != nil {
				return all
			}
			if at == "key" && len(path) > 0 {
				path[len(path)-1] = s
			} else {
				all = append(all, propertyString{append([]string{}, path...), s})
			}
		case xml.EndElement:
			if t.Name.Local == "dict" && len(path) > 0 {
				path = path[:len(path)-1]
			}
		}
	}
}

// elementText returns the text up to the end of the open element.
func elementText(d *xml.Decoder) (string, error) {
	var b strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", io.ErrUnexpectedEOF
		}
	}
}
