package schedule

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// seen is what was found, one line each.
func seen(all []Hand) string {
	var lines []string
	for _, h := range all {
		lines = append(lines, fmt.Sprintf("%d %s %s %s", h.Line, h.Config, h.Path, h.Repeats))
	}
	return strings.Join(lines, "\n")
}

// Lines of a crontab that run passes are found with their config, however they are written.
func TestHandInCron(t *testing.T) {
	const usual = "1  /usr/bin:/bin "
	for line, want := range map[string]string{
		"*/5 * * * * gh mergexo tick":                                              usual,
		"\t*/5 * * * *\t/usr/bin/gh mergexo tick >/dev/null 2>&1":                  usual,
		"@hourly gh-mergexo tick --detach":                                         usual,
		"* * * * * cd /src && /opt/gh-mergexo tick; true":                          usual,
		"* * * * * flock -n /tmp/x timeout 300 gh mergexo tick":                    usual,
		"* * * * * sh -c 'cd /x; gh mergexo tick'":                                 usual,
		"* * * * * bash -lc 'gh mergexo tick'":                                     "1   ",
		"* * * * * . ~/.profile; gh mergexo tick":                                  "1   ",
		"* * * * * PATH=/opt/bin:/bin gh mergexo tick":                             "1  /opt/bin:/bin ",
		"* * * * * PATH=$HOME/bin:$PATH gh mergexo tick":                           "1   ",
		"* * * * * gh mergexo tick --config /c/x.toml":                             "1 /c/x.toml /usr/bin:/bin ",
		"* * * * * gh mergexo --config=x.toml tick --now":                          "1 /home/me/x.toml /usr/bin:/bin ",
		"* * * * * gh mergexo tick --config '~/a b.toml'":                          "1 /home/me/a b.toml /usr/bin:/bin ",
		"* * * * * MERGEXO_CONFIG=$HOME/x.toml gh mergexo tick":                    "1 /home/me/x.toml /usr/bin:/bin ",
		"* * * * * export MERGEXO_CONFIG=/a; gh mergexo tick --config /b":          "1 /b /usr/bin:/bin ",
		"MERGEXO_CONFIG = \"/c.toml\"\nPATH=/p\n@reboot gh-mergexo tick":           "3 /c.toml /p ",
		"* * * * * gh mergexo tick % the input":                                    usual,
		"* * * * * echo \\% && gh mergexo tick":                                    usual,
		"* * * * * gh mergexo tick\r":                                              usual,
		"# gh-mergexo begin\n* * * * * gh mergexo tick":                            "2  /usr/bin:/bin ",
		"# gh-mergexo begin\n* * * * * gh mergexo tick\n# gh-mergexo end 12345678": "2  /usr/bin:/bin ",

		"# */5 * * * * gh mergexo tick":                                   "",
		"* * * * * true # gh mergexo tick":                                "",
		"* * * * * echo gh mergexo tick":                                  "",
		"* * * * * cat % gh mergexo tick":                                 "",
		"* * * * * gh mergexo tick --dry-run":                             "",
		"* * * * * gh mergexo status":                                     "",
		"* * * * * gh tick mergexo":                                       "",
		"* * * * * gh mergexo show tick":                                  "",
		"MAILTO=gh mergexo tick":                                          "",
		"* * * gh mergexo tick":                                           "",
		"# gh-mergexo begin\n* * * * * gh mergexo tick\n# gh-mergexo end": "",
		"# gh-mergexo begin 12345678\n* * * * * gh mergexo tick\n# gh-mergexo end 12345678": "",
	} {
		if got := seen(handInCron(line, "/home/me")); got != want {
			t.Errorf("%q: found %q, want %q", line, got, want)
		}
	}
}

// Services that run passes count if a timer repeats them, or systemd itself.
func TestHandInUnits(t *testing.T) {
	timer, other := File{"/u/a.timer", "[Timer]\nOnCalendar=hourly\n"}, File{"/u/b.timer", "[Timer]\nUnit=a.service\n"}
	for text, c := range map[string]struct {
		timer File
		want  string
	}{
		"[Service]\nExecStart=/usr/bin/gh mergexo tick\n":                                                  {timer, "2   a.timer"},
		"[Service]\nExecStart=-/usr/bin/env gh \\\n  # words\n  mergexo tick --config %h/x.toml\n":         {other, "2 /home/me/x.toml  b.timer"},
		"[Service]\nEnvironment=\"PATH=/p\" 'MERGEXO_CONFIG=/c d'\nExecStart=\"/o/gh-mergexo\" \"tick\"\n": {timer, "3 /c d /p a.timer"},
		"[Service]\nRestart=always\nExecStart=gh mergexo tick":                                             {File{}, "3   a.service"},
		"[Service]\nExecStart=gh mergexo tick":                                                             {File{}, ""},
		"[Service]\n#ExecStart=gh mergexo tick\n;ExecStart=gh mergexo tick":                                {timer, ""},
		"[Service]\nExecStart=gh mergexo status":                                                           {timer, ""},
		"[Service]\nExecStart=gh mergexo tick\n\\":                                                         {timer, "2   a.timer"},
	} {
		if got := seen(handInUnits([]File{{"/u/a.service", text}, c.timer}, "/home/me")); got != c.want {
			t.Errorf("%q: found %q, want %q", text, got, c.want)
		}
	}
}

// Agents of launchd that run passes again and again count; what cannot be read is said.
func TestHandInAgents(t *testing.T) {
	const every = "<key>StartInterval</key><integer>60</integer>"
	const tick = "<key>Label</key><string>me.tick</string>\n<key>ProgramArguments</key>\n<array>\n<string>/opt/gh</string><string>mergexo</string><string>tick</string>"
	for text, want := range map[string]string{
		"<plist><dict>" + tick + "</array>" + every + "</dict></plist>": "4  /usr/bin:/bin:/usr/sbin:/sbin me.tick",
		"<plist><dict>" + tick + "<string>--config</string><string>/a&amp;b</string></array>" + every +
			"<key>EnvironmentVariables</key><dict><key>PATH</key><string>/p</string><key>MERGEXO_CONFIG</key><string>/c</string></dict></dict></plist>": "4 /a&b /p me.tick",
		"<plist><dict><key>ProgramArguments</key><array><string>sh</string><string>-c</string><string>gh mergexo tick; it's</string></array><key>KeepAlive</key><dict><key>StartInterval</key><true/></dict></dict></plist>": "1  /usr/bin:/bin:/usr/sbin:/sbin ",
		"<plist><dict>" + tick + "</array></dict></plist>":                                        "",
		"<plist><dict>" + tick + "</array>" + every + "<key>Disabled</key><true/></dict></plist>": "",
		"<plist><dict><!-- " + tick + "</array> -->" + every + "</dict></plist>":                  "",
		"<plist><dict>" + tick:      "unread",
		"bplist00 gh mergexo tick":  "unread",
		"<plist>\xff\x00 mergexo":   "unread",
		"bplist00 of somebody else": "",
	} {
		all, unread := handInAgents([]File{{"/l/x.plist", text}}, "/home/me")
		got := seen(all)
		if len(unread) > 0 {
			got = "unread"
		}
		if got != want {
			t.Errorf("%q: found %q, want %q (%v)", text, got, want, unread)
		}
	}
}

// parts are what schedules consist of, whole and broken.
var parts = []string{
	"* * * * * ", "@daily ", "gh", " mergexo", " tick", "gh-mergexo tick", "gh mergexo tick\n", " --config", "=", "MERGEXO_CONFIG=", "PATH=", "'", `"`, `\`, "%", "\n", "#", ";", "&", "(", " ", "\x00", "\xff", "é",
	"# gh-mergexo begin\n", "# gh-mergexo end\n", "[Service]\n", "ExecStart=", "Environment=", "Restart=always\n", "Unit=", "<plist>", "<dict>", "</dict>", "<key>", "</key>", "<string>", "</string>", "<array>", "</array>",
	"ProgramArguments", "StartInterval", "EnvironmentVariables", "<!--", "-->", "bplist00", "<true/>", "&amp;", "$HOME/",
}

// No text makes the search fail. The block that install writes is never counted, with any text around it.
func TestHandNeverFailsAndNeverCountsOurs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"), "")
		})
		before, after, home := text.Draw(t, "before"), text.Draw(t, "after"), text.Draw(t, "home")
		handInUnits([]File{{"/u/a.service", before}, {"/u/a.timer", after}}, home)
		handInAgents([]File{{"/l/a.plist", before}, {"/l/b.plist", after}}, home)
		handInCron(before+after, home)
		for _, k := range Kinds {
			j := jobs(t, k)
			s, err := Machine{Home: "/h", ConfigHome: "/h/.config"}.Of(k)
			if err != nil {
				t.Fatal(err)
			}
			written, err := s.Files(j)
			if err != nil {
				continue // too long for cron
			}
			var found []Hand
			switch k {
			case Cron:
				if strings.Contains(before, "# gh-mergexo") {
					continue // a block that is broken by hand is none
				}
				before += "\n"
				found = handInCron(before+written[0].Text, home)
				if seen(found) != seen(handInCron(before, home)) {
					t.Errorf("our block was counted: %+v", found)
				}
			case Systemd:
				if found = handInUnits(written, home); len(found) > 0 {
					t.Errorf("our units were counted: %+v", found)
				}
			case Launchd:
				if found, _ = handInAgents(written, home); len(found) > 0 {
					t.Errorf("our agent was counted: %+v", found)
				}
			}
		}
	})
}

// A folder is read through links. Each entry that is no file, or too large, is named.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	for name, text := range map[string]string{"real": "text", "large.service": strings.Repeat("x", mostText+1), "a.txt": "not a unit"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"a.service": real, "masked.service": os.DevNull, "gone.service": filepath.Join(dir, "none"), "odd.timer": dir} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	all, unread := readFolder(dir, ".service", ".timer")
	if len(all) != 2 || all[0] != (File{filepath.Join(dir, "a.service"), "text"}) || all[1].Text != "" || len(unread) != 2 {
		t.Errorf("read %+v, and not %v", all, unread)
	}
	if all, unread := readFolder(filepath.Join(dir, "none"), ".plist"); len(all)+len(unread) > 0 {
		t.Errorf("a folder that is not there: %+v, %v", all, unread)
	}
	if _, unread := readFolder(real, ".plist"); len(unread) != 1 {
		t.Errorf("a file in place of the folder: %v", unread)
	}
}

// Nothing is said about cron where processes cannot be seen.
func TestCronSleeps(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"no processes":  {nil, false},
		"hidden ones":   {map[string]string{"proc/77/comm": "sh\n"}, false},
		"no daemon":     {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "crontab\n", "proc/8/comm": "sh\n", "proc/8/cmdline": "sh\x00cron\x00"}, true},
		"Debian's":      {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "cron\n"}, false},
		"cronie":        {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "crond\n"}, false},
		"busybox":       {map[string]string{"proc/1/comm": "init\n", "proc/7/comm": "busybox\n", "proc/7/cmdline": "/bin/busybox\x00crond\x00-f\x00"}, false},
		"first process": {map[string]string{"proc/1/comm": "crond\n"}, false},
		"systemd-cron":  {map[string]string{"proc/1/comm": "systemd\n", "run/systemd/system/x": "", "usr/lib/systemd/system/cron.target": ""}, false},
	} {
		root := t.TempDir()
		for at, text := range c.files {
			at = filepath.Join(root, filepath.FromSlash(at))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := CronSleeps(root); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Jobs of a launchd without a session at the screen find the keychain locked.
func TestAtScreen(t *testing.T) {
	for domain, want := range map[string]bool{"gui": true, "user": false, "none": false} {
		dir := t.TempDir()
		script := "#!/bin/sh\ncase $2 in " + domain + "/*) exit 0 ;; esac\nexit 113\n"
		if err := os.WriteFile(filepath.Join(dir, "launchctl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := (Machine{Path: dir}).AtScreen(t.Context()); got != want {
			t.Errorf("%s: %v", domain, got)
		}
	}
}

// What files name is quoted in the command that people copy.
func TestEndOfAHandQuotesNames(t *testing.T) {
	for want, h := range map[string]Hand{
		`systemctl --user disable --now a.timer`:                               {Kind: Systemd, Repeats: "a.timer"},
		`systemctl --user disable --now 'a; reboot.timer'`:                     {Kind: Systemd, Repeats: "a; reboot.timer"},
		`launchctl bootout gui/$(id -u)/'$(reboot)'; rm '/a/it'\''s; x.plist'`: {Kind: Launchd, Repeats: "$(reboot)", Where: "/a/it's; x.plist"},
		`launchctl bootout gui/$(id -u)/me.pass; rm /a/me.plist`:               {Kind: Launchd, Repeats: "me.pass", Where: "/a/me.plist"},
	} {
		if got := h.End(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Lines that nobody writes take no time that their length squares.
func TestHandInHugeLines(t *testing.T) {
	const lines = mostText / 21
	flags := strings.Repeat("gh-mergexo --config ", lines)
	for what, read := range map[string]func() int{
		"a crontab": func() int { return len(handInCron("* * * * * "+flags+"x tick", "/home/me")) },
		"a unit": func() int {
			return len(settingsOf("ExecStart=x\\\n" + strings.Repeat("y\\\n", mostText/3))[0].value) / (2 * mostLine)
		},
	} {
		if n := read(); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}
