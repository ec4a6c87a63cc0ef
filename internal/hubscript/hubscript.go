// Package hubscript is the testscript command hub: what people do on the simulated GitHub of a
// story, what goes wrong there, and what can be seen of it.
//
//	hub [--repo o/n] SUBCOMMAND ARGUMENT…
//
// Without --repo the repository is meant where the story is, see Place. A user that is named but does not exist is made, with read
// permission. In texts \n stands for a newline, \u202e for a character by its number. Comments are named by ordinals: c1, c2, … in conversations, r1, … on
// diffs, v1, … for reviews, in the order of their making; plain ids are taken too. Flags may stand anywhere.
//
// What is done (--by NAME says by whom, the repository's owner if not given):
//
//	hub user NAME [admin|maintain|write|triage|read|none|bot]
//	hub delete-user NAME               hub rename-user NAME NEWNAME
//	hub repo OWNER/NAME [--private] [--empty]
//	hub fork OWNER
//	hub issue AUTHOR TITLE [--body B] [--label L]… [--times N] [--form]; with --form the labels are an issue form's, set by the author
//	hub edit-issue N [--title T] [--body B] [--by U]
//	hub delete-issue N
//	hub label N L… [--by U]            hub unlabel N L… [--by U]
//	hub make-label NAME COLOR [DESCRIPTION]
//	hub assign N LOGIN… [--by U]       hub unassign N LOGIN… [--by U]; GitHub's own agent is a bot: hub user copilot bot, hub assign N copilot[bot]
//	hub lock N                         hub unlock N
//	hub close N [--reason completed|not_planned|duplicate] [--by U]      hub reopen N [--by U]
//	hub comment N AUTHOR BODY
//	hub edit-comment ID BODY [--by U]  hub delete-comment ID [--by U]; the author, if not given
//	hub hide ID REASON                 hub unhide ID; as moderators do (minimized)
//	hub react N|ID AUTHOR CONTENT
//	hub attach FILE [--leads URL]
//	hub open-pull AUTHOR BRANCH TITLE [--body B] [--base B] [--draft]
//	hub review-comment PR AUTHOR PATH LINE BODY
//	hub reply PR TOP AUTHOR BODY
//	hub review PR AUTHOR COMMENT|APPROVE|REQUEST_CHANGES|PENDING BODY [--line PATH:LINE:BODY]… [--commit REF]
//	hub edit-review PR ID BODY [--by U]         hub submit PR AUTHOR VERDICT BODY
//	hub dismiss PR ID [MESSAGE] [--by U]            hub request PR LOGIN… [--by U]
//	hub ready PR [--by U]              hub draft PR [--by U]
//	hub change-base PR BRANCH [--by U]
//	hub resolve PR N|ID [--by U]       hub unresolve PR N|ID [--by U]
//	hub merge PR [--by U] [--method M]
//	hub push BRANCH FILE CONTENT [--by U] [--message M]
//	hub remove-file BRANCH FILE [--by U] [--message M]
//	hub force-push BRANCH [FILE CONTENT] [--by U] [--onto REF]
//	hub branch NAME REF                hub delete-branch BRANCH [--by U]
//	hub rename-default NAME            hub rename-repo OWNER/NAME         hub delete-repo
//	hub hide-node WHY
//	hub block N BY [--by U]            hub unblock N BY [--by U]; BY is a number or owner/name#12
//	hub add-sub N CHILD [--by U]       hub remove-sub N CHILD [--by U]; CHILD is a number or owner/name#12
//	hub move-sub N CHILD [--by U]      the sub-issue becomes the first
//	hub transfer N OWNER/NAME [--by U]
//	hub archive
//	hub refuse-push BRANCH MESSAGE     hub refuse-workflows     hub allow-pushes
//	hub check REF NAME CONCLUSION [--log L] [--annotate PATH:LINE:MESSAGE] [--ago D]; the conclusion none: it has not ended
//	hub status REF CONTEXT STATE [DESCRIPTION]; the state expected: required, and reported by nobody (only GraphQL shows it)
//	hub forbid-checks NAME             their token may not see check runs
//	hub scopes NAME SCOPE…             their token is a classic one with these scopes, or without any
//	hub fine-grained NAME              their token is a fine-grained one
//	hub expires NAME TIME              their token holds until then
//	hub forbid-statuses NAME           their token may set no commit status
//	hub sso OWNER [PAGE]               the owner wants tokens to be authorized on a page (SAML); without it: they are
//	hub revoke NAME                    their token is not accepted    hub restore-token NAME
//
// In check and status the REF queue:PR is the commit that the merge queue wants to land.
//
// What is demanded of merges, and how they end (see people_merge.go):
//
//	hub protect BRANCH RULE…           hub unprotect BRANCH
//	hub ruleset NAME BRANCH RULE…      hub remove-ruleset NAME
//	hub merge-methods METHOD…          hub delete-on-merge
//	hub refuse-merges MESSAGE [--times N] [--code STATUS]
//	hub half-merges [--times N]        hub complete-merge PR
//	hub alter-merges FILE CONTENT [--times N]
//	hub keep-issues                    closing words close nothing
//	hub delay-updates                  hub finish-updates
//	hub publish TAG FILE…              a release of these files
//	hub enqueue PR [--by U]            hub dequeue PR [--by U]
//	hub step-queue PR                  hub queue-state PR STATE
//
// What goes wrong (see faults.go for the matchers):
//
//	hub lose, hub fail, hub slow, hub html, hub secondary, hub endless, hub redirect, hub clear-faults, hub pending-faults
//	hub hold, hub await-held, hub release, hub before
//	hub lag, hub limit, hub max-comments, hub max-page, hub open-page, hub bump-on-reaction, hub no-dependencies, hub no-sub-issues
//
// What can be seen, on standard output (--bare leaves HTML comments such as markers out of texts):
//
//	hub box PR | queue | issues | subs N | pulls | branches | labels N | repo-labels | reactions N | reviews PR | requested PR | statuses REF | timeline N | pull PR | log REF [--full]
//	hub comments N [--bare] [--author A] | dump [--bare] | show REF:FILE
//	hub requests [--writes] [--number]; where a repository is named, those that are below its path or name something of it
//	hub reset-requests, likewise | hub unknown | hub token NAME | hub user-id NAME | hub git-dir
package hubscript

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// Place is where a story is: on a hub, in a repository. Without a name that is the hub's first one.
type Place struct {
	Hub  *githubsim.Hub // required
	Repo string         // optional: owner/name
}

// Commands makes the command; place finds where a running story is.
func Commands(place func(*testscript.TestScript) Place) map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"hub": func(ts *testscript.TestScript, neg bool, args []string) {
			printed := ""
			at := place(ts)
			again := func(args []string) error {
				return (&command{hub: at.Hub, at: at.Repo, print: func(string) {}}).run(args)
			}
			c := &command{hub: at.Hub, at: at.Repo, print: func(text string) { printed += text }, again: again}
			err := c.run(args)
			if printed == "" {
				printed = "\n" // testscript keeps the output of the command before when there is none
			}
			_, _ = fmt.Fprint(ts.Stdout(), printed)
			if err != nil && !neg {
				ts.Fatalf("hub %s: %v", strings.Join(args, " "), err)
			}
			if err != nil {
				ts.Logf("hub: %v", err)
			}
			if err == nil && neg {
				ts.Fatalf("hub %s: it worked", strings.Join(args, " "))
			}
		},
	}
}

// command is one call of hub.
type command struct {
	hub   *githubsim.Hub
	at    string // the repository where the story is; empty: the first
	repo  *githubsim.Repo
	print func(string)
	again func(args []string) error // runs another command on the same hub
	args  []string                  // without flags
	flags map[string][]string       // by name, without dashes
}

// subcommand is what a word does; it needs that many arguments.
type subcommand struct {
	min int
	do  func(*command) error
}

// switches are the flags without a value.
var switches = []string{"private", "empty", "draft", "form", "always", "before", "applied", "writes", "bare", "full", "number", "lost", "dismiss-stale", "last-push", "strict", "conversations", "linear"}

// values are the flags with a value.
var values = []string{
	"ago", "annotate", "approvals", "author", "base", "body", "by", "check", "code", "commit", "contains", "count", "for", "label", "leads", "line", "log", "message",
	"method", "nth", "onto", "path", "queue", "reads", "reason", "repo", "times", "title",
}

// subcommands are all words.
func subcommands() map[string]subcommand {
	all := deeds()
	maps.Copy(all, faultDeeds)
	all["before"] = subcommand{3, before}
	maps.Copy(all, views)
	return all
}

// deeds are the words for what people do.
func deeds() map[string]subcommand {
	all := map[string]subcommand{}
	for _, table := range []map[string]subcommand{accountDeeds, issueDeeds, pullDeeds, mergeDeeds, gitDeeds} {
		maps.Copy(all, table)
	}
	return all
}

func (c *command) run(args []string) error {
	if err := c.parse(args); err != nil {
		return err
	}
	if len(c.args) == 0 {
		return fmt.Errorf("say what to do: %s", strings.Join(words(), ", "))
	}
	s, ok := subcommands()[c.args[0]]
	if !ok {
		return fmt.Errorf("there is no %q, but: %s", c.args[0], strings.Join(words(), ", "))
	}
	c.args = c.args[1:]
	if len(c.args) < s.min {
		return fmt.Errorf("it takes %d arguments", s.min)
	}
	if err := c.choose(); err != nil {
		return err
	}
	return s.do(c)
}

func words() []string {
	var out []string
	for name := range subcommands() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// parse splits flags from arguments; after "--" everything is an argument.
func (c *command) parse(args []string) error {
	c.flags = map[string][]string{}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		switch {
		case !isFlag:
			c.args = append(c.args, args[i])
		case name == "":
			c.args = append(c.args, args[i+1:]...)
			return nil
		case slices.Contains(switches, name):
			c.flags[name] = append(c.flags[name], "true")
		case !slices.Contains(values, name):
			return fmt.Errorf("there is no flag --%s", name)
		case i+1 == len(args):
			return fmt.Errorf("--%s takes a value", name)
		default:
			i++
			c.flags[name] = append(c.flags[name], args[i])
		}
	}
	return nil
}

// choose finds the repository that is meant.
func (c *command) choose() error {
	if name := c.flag("repo", c.at); name != "" {
		if c.repo = c.hub.Repo(name); c.repo == nil {
			return fmt.Errorf("there is no repository %s", name)
		}
		return nil
	}
	if all := c.hub.Repos(); len(all) > 0 {
		c.repo = all[0]
	}
	return nil
}

func (c *command) has(name string) bool { return len(c.flags[name]) > 0 }

func (c *command) flag(name, fallback string) string {
	if list := c.flags[name]; len(list) > 0 {
		return text(list[len(list)-1])
	}
	return fallback
}

// count is a flag's number.
func (c *command) count(name string, fallback int) (int, error) {
	s := c.flag(name, "")
	if s == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("--%s takes a number, not %q", name, s)
	}
	return n, nil
}

// text turns \n into a newline, and \u with four hexadecimal digits into that
// character.
func text(s string) string {
	s = numbered().ReplaceAllStringFunc(s, func(u string) string {
		n, _ := strconv.ParseUint(u[2:], 16, 32) // digits, as matched
		return string(rune(n))
	})
	return strings.ReplaceAll(s, `\n`, "\n")
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u[0-9a-f]{4}`) })

// number is the first argument: an issue's or a pull request's number.
func (c *command) number() (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(c.args[0], "#"))
	if err != nil {
		return 0, fmt.Errorf("%q is no number", c.args[0])
	}
	return n, nil
}

// id is an ordinal in the repository or a plain id.
func (c *command) id(s string) (int64, error) {
	if n, ok := c.repo.FromOrdinal(s); ok {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no id", s)
	}
	return n, nil
}

// person is a user by name, made when missing.
func (c *command) person(login string) (string, error) {
	if c.hub.HasUser(login) {
		return login, nil
	}
	_, err := c.hub.AddUser(login)
	return login, err
}

// by is who does a deed: --by, else the repository's owner.
func (c *command) by() (string, error) {
	if login := c.flag("by", ""); login != "" {
		return c.person(login)
	}
	owner, _, _ := strings.Cut(c.repo.FullName(), "/")
	return owner, nil
}
