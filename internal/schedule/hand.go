package schedule

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Hand is a schedule of passes that install did not write.
type Hand struct {
	Kind    Kind
	Where   string // a file, or "crontab -l"
	Line    int
	Text    string // the line
	Config  string // absolute path; empty: the default config
	Path    string // PATH of its passes; empty: not known
	Repeats string // the timer that starts it, or the agent's label
}

// Says names the place.
func (h Hand) Says() string { return fmt.Sprintf("%s, line %d", h.Where, h.Line) }

// End is the command that ends it.
func (h Hand) End() string {
	switch h.Kind {
	case Systemd:
		return "systemctl --user disable --now " + shellWord(h.Repeats)
	case Launchd:
		return fmt.Sprintf("launchctl bootout gui/$(id -u)/%s; rm %s", shellWord(h.Repeats), shellWord(h.Where))
	case Cron:
	}
	return "crontab -e"
}

// shellWord quotes a name from a file: people copy the command that has it into a shell.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return `'` + strings.ReplaceAll(s, `'`, `'\''`) + `'`
}

// CrontabList is the command that prints the crontab, where a Hand of cron is.
const CrontabList = "crontab -l"

// The PATH of jobs whose scheduler is not told another.
const (
	pathOfCron    = "/usr/bin:/bin"
	pathOfLaunchd = "/usr/bin:/bin:/usr/sbin:/sbin"
)

var (
	cronVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*["']?([A-Za-z_]\w*)["']?\s*=\s*(.*?)\s*$`) })
	cronCommand  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:@\w+|(?:[^\s#]\S*\s+){4}\S+)\s+(.*)$`) })
	plainWord    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w@%+=:,./-]+$`) })
	cronMark     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^# gh-mergexo (begin|end)( [0-9a-f]{8})?$`) })
)

// handInCron finds the lines of a crontab that run passes, outside of our blocks: of this config or
// another. A block that nothing ends is none.
func handInCron(tab, home string) (all []Hand) {
	s := starter{home: home, path: pathOfCron}
	block, at := "", 0 // the mark that ends the block, and how many were found before it
	n := 0
	for line := range strings.Lines(tab) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if mark := cronMark().FindStringSubmatch(line); mark != nil {
			if mark[1] == "begin" {
				block, at = "end"+mark[2], len(all)
			} else if block == "end"+mark[2] {
				block, all = "", all[:at]
			}
			continue
		}
		if v := cronVariable().FindStringSubmatch(line); v != nil {
			s = s.with(v[1], strings.Trim(v[2], `"'`))
			continue
		}
		if c := cronCommand().FindStringSubmatch(line); c != nil {
			if h, ok := s.tick(beforePercent(c[1]), 0); ok {
				h.Kind, h.Where, h.Line, h.Text = Cron, CrontabList, n, line
				all = append(all, h)
			}
		}
	}
	return all
}

// beforePercent is the part of a command that cron gives to a shell.
func beforePercent(command string) string {
	var b strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && i+1 < len(command) && command[i+1] == '%':
			i++
		case command[i] == '%':
			return b.String()
		}
		b.WriteByte(command[i])
	}
	return b.String()
}

// setting is a line of a unit, with the lines that continue it.
type setting struct {
	name, value string
	line        int
}

func settingsOf(text string) (all []setting) {
	continues := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		part, more := strings.CutSuffix(line, `\`)
		if last := len(all) - 1; !continues {
			name, value, _ := strings.Cut(part, "=")
			all = append(all, setting{strings.TrimSpace(name), strings.TrimSpace(value), n})
		} else if len(all[last].value) < mostLine { // each line copies those before it
			all[last].value += " " + part
		}
		continues = more
	}
	return all
}

// handInUnits finds the services among units that run passes, and that a timer repeats, or systemd
// itself.
func handInUnits(units []File, home string) (all []Hand) {
	timers := map[string]string{} // by service
	for _, f := range units {
		if name, ok := strings.CutSuffix(filepath.Base(f.Path), ".timer"); ok {
			service := name + ".service"
			for _, set := range settingsOf(f.Text) {
				if set.name == "Unit" && set.value != "" {
					service = set.value
				}
			}
			timers[service] = name + ".timer"
		}
	}
	for _, f := range units {
		name := filepath.Base(f.Path)
		if filepath.Ext(name) != ".service" || ours(f.Text) {
			continue
		}
		s, repeats := starter{home: home}, timers[name]
		var found []Hand
		for _, set := range settingsOf(f.Text) {
			value := strings.NewReplacer("%h", home, "%%", "%").Replace(set.value)
			switch set.name {
			case "Environment":
				for _, words := range simpleCommands(value) {
					for _, w := range words {
						s = s.assign(w)
					}
				}
			case "Restart":
				if repeats == "" && value != "no" && value != "" {
					repeats = name
				}
			case "ExecStart":
				if h, ok := s.tick(strings.TrimLeft(value, "-@:+!|"), 0); ok {
					h.Kind, h.Where, h.Line, h.Text = Systemd, f.Path, set.line, set.name+"="+set.value
					found = append(found, h)
				}
			}
		}
		for _, h := range found {
			if h.Repeats = repeats; repeats != "" {
				all = append(all, h)
			}
		}
	}
	return all
}

// handInAgents finds the agents of launchd among property lists that run passes again and again.
// unread are those that may, in a form that is not read here.
func handInAgents(lists []File, home string) (all []Hand, unread []error) {
	for _, f := range lists {
		if !strings.Contains(f.Text, "mergexo") || ours(f.Text) {
			continue
		}
		h, found, err := handInAgent(f.Text, starter{home: home, path: pathOfLaunchd})
		if err != nil {
			unread = append(unread, fmt.Errorf("read %s: %w", f.Path, err))
		} else if found {
			h.Kind, h.Where = Launchd, f.Path
			all = append(all, h)
		}
	}
	return all, unread
}

// handInAgent reads a property list in XML. Its keys mean the same at any depth.
func handInAgent(text string, s starter) (h Hand, found bool, err error) {
	if strings.HasPrefix(text, "bplist") {
		return h, false, errors.New("it is a binary property list; to convert it: plutil -convert xml1")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var argv []string
	var key, program, label string
	line, repeats, disabled := 0, false, false
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h, false, err
		}
		e, begins := t.(xml.StartElement)
		if !begins || !slices.Contains([]string{"key", "string", "true"}, e.Name.Local) {
			continue
		}
		at, _ := d.InputPos()
		var value string
		if err := d.DecodeElement(&value, &e); err != nil {
			return h, false, err
		}
		switch {
		case e.Name.Local == "key":
			key = value
			repeats = repeats || slices.Contains([]string{"StartInterval", "StartCalendarInterval", "KeepAlive"}, key)
		case e.Name.Local == "true":
			disabled = disabled || key == "Disabled"
		case key == "Label":
			label = value
		case key == "Program":
			program = value
		case key == "ProgramArguments":
			if argv = append(argv, value); line == 0 {
				line = at
			}
		default:
			s = s.with(key, value)
		}
	}
	if program != "" && len(argv) > 0 { // launchd starts that, with the first argument as its name
		argv[0] = program
	}
	var words []string
	for _, w := range argv {
		words = append(words, shellWord(w))
	}
	h, found = s.tick(strings.Join(words, " "), 0)
	h.Line, h.Text, h.Repeats = line, strings.Join(argv, " "), label
	return h, found && repeats && !disabled, nil
}
