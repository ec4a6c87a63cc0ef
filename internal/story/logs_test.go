//go:build unix

package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ofThePass are the messages that concern no single repository.
var ofThePass = []string{
	"pass", "repositories", "turns wait for a daily budget", "the clock of this machine is wrong", "rate limited", "could not record a limit of GitHub's",
	"this pass cannot be protected from processes of its agents",
	"could not delete data of finished work", "could not look for processes in a checkout",
	"the config has a doubtful setting",
	"another state folder had this machine's name before", "could not plan messages", "a pass died", "the pass continues without what only observes it", "a message without a repository did not arrive",
}

// checkLogs decodes every line that a story's passes have logged, and demands what
// makes a log usable: one flat object a line, times in UTC, and the ids by which a
// line is found from a repository, an item, a turn, an event or an action.
func checkLogs(state string) error {
	files, err := filepath.Glob(filepath.Join(state, "logs", "*.jsonl"))
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			if why := wrongLine(line); why != "" {
				errs = append(errs, fmt.Errorf("log: %s: %s", why, bytes.TrimSpace(line)))
			}
		}
	}
	return errors.Join(errs...)
}

// wrongLine says what is wrong with a line of a log; empty when nothing is.
func wrongLine(line []byte) string {
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return err.Error()
	}
	for key, value := range fields {
		switch v := value.(type) {
		case string:
			if strings.HasPrefix(v, "map[") || strings.HasPrefix(v, "{") && key != "line" && key != "output" && key != "detail" {
				return key + " holds a structure"
			}
			if strings.HasPrefix(v, "0001-01-01T") {
				return key + " is a time that is not set"
			}
		case bool, float64:
		default:
			return fmt.Sprintf("%s is a %T", key, value)
		}
		if strings.ContainsAny(key, "/. ") {
			return key + " is no name of a field"
		}
	}
	if at, err := time.Parse(time.RFC3339Nano, text(fields, "time")); err != nil || at.Location() != time.UTC {
		return "time is not UTC"
	}
	for _, want := range wanted(fields) {
		if !slices.ContainsFunc(strings.Split(want, "|"), func(key string) bool { return there(fields[key]) }) {
			return "no " + want
		}
	}
	return ""
}

// wanted are the ids that a line must have; a|b is either of two.
func wanted(fields map[string]any) []string {
	all := []string{"level", "msg", "pass"}
	msg := text(fields, "msg")
	if !slices.Contains(ofThePass, msg) {
		all = append(all, "repo_full_name")
	}
	if there(fields["turn_key"]) {
		all = append(all, "work_item_id", "kind")
	}
	if there(fields["work_item_id"]) && !there(fields["turn_key"]) {
		all = append(all, "issue_number|pr_number")
	}
	switch msg {
	case "turn changed", "agent says", "the required tests fail":
		all = append(all, "turn_key", "issue_number")
	case "event":
		all = append(all, "event_key", "kind", "issue_number|pr_number")
	case "action applied":
		all = append(all, "action_token", "kind")
		if fields["kind"] != string(work.ActionRepoLabels) { // which are the repository's
			all = append(all, "work_item_id|number")
		}
	}
	return all
}

func text(fields map[string]any, key string) string {
	s, _ := fields[key].(string)
	return s
}

func there(value any) bool { return value != nil && value != "" && value != float64(0) }

// The check of logs finds what it is for.
func TestLogCheckFindsFaults(t *testing.T) {
	const good = `{"time":"2026-11-22T09:00:00.5Z","level":"INFO","msg":"action applied","pass":"1-2","repo_full_name":"octo/app","work_item_id":1,"issue_number":1,"kind":"comment","action_token":"a"}`
	if why := wrongLine([]byte(good)); why != "" {
		t.Errorf("a good line: %s", why)
	}
	for old, to := range map[string]string{
		`"pass":"1-2",`:                 ``,
		`"repo_full_name":"octo/app",`:  ``,
		`"work_item_id":1,`:             ``,
		`"action_token":"a"`:            `"x":1`,
		`"issue_number":1,`:             ``,
		`09:00:00.5Z`:                   `09:00:00.5+09:00`,
		`"kind":"comment"`:              `"kind":"comment","octo/app":"map[events:1]"`,
		`"kind":"comment",`:             `"kind":["comment"],`,
		`"level":"INFO","msg"`:          `"level":"INFO","list":{"a":1},"msg"`,
		`{"time"`:                       `"time"`,
		`"level":"INFO",`:               ``,
		`"msg":"action applied","pass"`: `"msg":"event","pass"`,
	} {
		if line := strings.Replace(good, old, to, 1); line == good || wrongLine([]byte(line)) == "" {
			t.Errorf("not found: %s", line)
		}
	}
}
