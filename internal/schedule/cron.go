package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxCommand bounds a command's length: Debian's cron accepts 999 bytes.
const maxCommand = 990

func (j Job) cronMarks() (begin, end string) {
	id := ""
	if j.id() != "" {
		id = " " + j.id()
	}
	return "# gh-mergexo begin" + id, "# gh-mergexo end" + id
}

// cronBlock is the job's part of a crontab.
func cronBlock(j Job) (string, error) {
	times, err := cronTimes(j.Every)
	if err != nil {
		return "", err
	}
	line := []string{"/usr/bin/env"}
	for _, v := range j.Env {
		line = append(line, v.Name+"="+v.Value)
	}
	var words []string
	for _, w := range append(line, j.Command(Cron)...) {
		words = append(words, cronWord(w))
	}
	command := strings.Join(words, " ")
	if len(command) > maxCommand {
		return "", &TooLongError{len(command)}
	}
	begin, end := j.cronMarks()
	return fmt.Sprintf("%s\n# %s\n%s %s\n%s\n", begin, j.header(), times, command, end), nil
}

// cronBegins is how the line of an interval begins.
func cronBegins(every time.Duration) string {
	times, _ := cronTimes(every) // others are never written
	return "\n" + times + " /usr/bin/env "
}

// TooLongError means that the command is too long for cron.
type TooLongError struct{ Bytes int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the command with its PATH has %d bytes, and cron takes %d: install from a shell whose PATH is shorter", e.Bytes, maxCommand)
}

// cronWord quotes a word for the shell and for cron. Cron ends a command at a % and removes a
// backslash before one. Some crons turn two backslashes into one, so none is written before another
// or before a % of the word itself.
func cronWord(w string) string {
	if w != "" && !strings.ContainsFunc(w, special) {
		return w
	}
	return "'" + strings.NewReplacer("'", `'"'"'`, `\`, `\''`, "%", `\%`).Replace(w) + "'"
}

func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/:=._-+,@", r)
	return !plain
}

// cutCron finds the job's block in a crontab.
func cutCron(j Job, tab string) (before, block, after string, err error) {
	begin, end := j.cronMarks()
	at, to := -1, -1
	pos := 0
	for line := range strings.Lines(tab) {
		switch bare := strings.TrimRight(line, "\r\n"); {
		case bare == begin && at >= 0, bare == end && (at < 0 || to >= 0):
			return "", "", "", brokenCron(begin, end)
		case bare == begin:
			at = pos
		case bare == end:
			to = pos + len(line)
		}
		pos += len(line)
	}
	switch {
	case at < 0:
		return tab, "", "", nil
	case to < 0:
		return "", "", "", brokenCron(begin, end)
	}
	return tab[:at], tab[at:to], tab[to:], nil
}

func brokenCron(begin, end string) error {
	return fmt.Errorf("the crontab does not have exactly one %q and one %q after it: correct that with crontab -e; nothing was changed", begin, end)
}

// intoCron returns the crontab with the job's block replaced, or appended if there is none. All
// other bytes stay the same.
func intoCron(j Job, tab, block string) (string, error) {
	before, old, after, err := cutCron(j, tab)
	if err != nil {
		return "", err
	}
	if old == "" && before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + block + after, nil
}

func cronFiles(_ Machine, j Job) ([]File, error) {
	block, err := cronBlock(j)
	return []File{{"crontab", block}}, err
}

func cronAnswers(ctx context.Context, m Machine) (string, error) { return m.listCrontab(ctx) }

// listCrontab returns the whole crontab. Any unclear answer is an error, because the crontab would be
// overwritten.
func (m Machine) listCrontab(ctx context.Context) (string, error) {
	res, err := m.ask(ctx, "", "crontab", "-l")
	says := strings.ToLower(said(res))
	none := strings.Contains(says, "no crontab for") || strings.Contains(says, "can't open") && strings.Contains(says, "no such file")
	switch {
	case err != nil:
		return "", err
	case res.Truncated:
		return "", errors.New("crontab -l gives more than anybody writes")
	case res.Code == 0:
		return string(res.Stdout), nil
	case len(res.Stdout) == 0 && none:
		return "", nil
	}
	return "", fmt.Errorf("crontab -l: %s", said(res))
}

// writeCrontab replaces the job's block, and checks that cron has it.
func (m Machine) writeCrontab(ctx context.Context, j Job, block string) error {
	tab, err := m.listCrontab(ctx)
	if err != nil {
		return err
	}
	if tab, err = intoCron(j, tab, block); err != nil {
		return err
	}
	if tab == "" {
		return m.tell(ctx, "", "crontab", "-r")
	}
	if err := m.tell(ctx, tab, "crontab", "-"); err != nil {
		return err
	}
	now, err := m.listCrontab(ctx)
	if err == nil && now != tab {
		err = errors.New("the crontab differs from what was just written: somebody else changed it; see crontab -l")
	}
	return err
}
