package githubsim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Dump is a stable text of the whole visible state, for comparing end states: neither ids nor
// stamps nor commit ids are in it (trees are), and what has no order of its own is sorted. Replace
// takes out what else may differ from run to run, such as tokens in markers.
func (h *Hub) Dump(replace ...*regexp.Regexp) string {
	defer h.enter()()
	var b strings.Builder
	for _, r := range h.repos {
		r.dump(&b)
	}
	out := b.String()
	for _, re := range replace {
		out = re.ReplaceAllString(out, "…")
	}
	return out
}

func (r *Repo) dump(b *strings.Builder) {
	fmt.Fprintf(b, "repository %s default %s%s\n", r.fullName(), r.defaultBranch, mark(r.archived, " archived"))
	heads := r.git.heads()
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		if !strings.HasPrefix(name, queueBranches) { // whose names hold commit ids; the entries are told below
			fmt.Fprintf(b, "branch %s tree %s\n", name, r.treeOf(heads[name]))
		}
	}
	r.dumpLandings(b)
	r.dumpStatuses(b)
	for _, is := range r.issues {
		if is.deleted {
			fmt.Fprintf(b, "issue %d deleted\n", is.number)
			continue
		}
		is.dump(b)
	}
}

// dumpLandings counts the steps of the default branch: what landed twice may have changed nothing
// the second time.
func (r *Repo) dumpLandings(b *strings.Builder) {
	oid, ok := r.git.head(r.defaultBranch)
	if !ok {
		return
	}
	steps, err := cached(r.git, "steps "+oid, func() (string, error) { return r.git.run("rev-list", "--first-parent", "--count", oid) })
	if err != nil {
		steps = "?"
	}
	fmt.Fprintf(b, "%s has %s steps\n", r.defaultBranch, steps)
}

// dumpStatuses writes the newest statuses of all commits, by tree: an older head's as well.
func (r *Repo) dumpStatuses(b *strings.Builder) {
	var lines []string
	for sha := range r.statuses {
		for _, s := range r.latestStatuses(sha) {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("status %s %s on tree %s by %s: %s", s.context, s.state, r.treeOf(sha), loginOf(s.creator), s.description), ": ")+"\n")
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

// mark is the word when it holds.
func mark(holds bool, word string) string {
	if holds {
		return word
	}
	return ""
}

// treeOf is the tree of a commit, shortened.
func (r *Repo) treeOf(oid string) string {
	c, err := r.git.commit(oid)
	if err != nil {
		return "?"
	}
	return c.tree[:12]
}

func (is *issue) dump(b *strings.Builder) {
	v := viewIssue(is)
	word, state := "issue", v.State
	if is.pull != nil {
		word, state = "pull", strings.ToLower(is.pull.stateWord())
	}
	fmt.Fprintf(b, "%s %d %s by %s: %s\n", word, v.Number, state, v.Author, v.Title)
	dumpText(b, v.Body)
	if len(v.Labels) > 0 {
		fmt.Fprintf(b, "  labels %s\n", strings.Join(v.Labels, ", "))
	}
	dumpReactions(b, "  ", v.Reactions)
	if is.locked {
		b.WriteString("  locked\n")
	}
	dumpRelated(b, "blocked by", is.blockedBy)
	dumpRelated(b, "sub-issues", is.children)
	if p := is.pull; p != nil {
		fmt.Fprintf(b, "  head %s base %s tree %s%s\n", p.headRef, p.baseRef, p.repo.treeOf(p.headOID()), mark(p.draft, " draft"))
	}
	for _, c := range is.comments {
		fmt.Fprintf(b, "  comment by %s\n", loginOf(c.author))
		dumpText(b, c.body)
		dumpReactions(b, "    ", viewReactions(c.reactions))
	}
	if is.pull != nil {
		is.pull.dump(b)
	}
}

// dumpRelated names other issues, in their order.
func dumpRelated(b *strings.Builder, what string, list []*issue) {
	var refs []string
	for _, is := range list {
		if is.exists() {
			refs = append(refs, fmt.Sprintf("%s#%d", is.repo.fullName(), is.number))
		}
	}
	if len(refs) > 0 {
		fmt.Fprintf(b, "  %s %s\n", what, strings.Join(refs, ", "))
	}
}

func (p *pull) dump(b *strings.Builder) {
	if q := p.entry(); q != nil {
		fmt.Fprintf(b, "  in the merge queue %s\n", q.state)
	}
	if p.half != nil {
		b.WriteString("  half merged\n")
	}
	if len(p.reviewers) > 0 {
		fmt.Fprintf(b, "  requested %s\n", strings.Join(logins(p.reviewers), ", "))
	}
	for _, v := range p.reviews {
		if v.state != "COMMENTED" || v.body != "" {
			fmt.Fprintf(b, "  review %s by %s on tree %s\n", v.state, loginOf(v.author), p.repo.treeOf(v.commitSHA))
			dumpText(b, v.body)
		}
	}
	for _, t := range p.threads {
		fmt.Fprintf(b, "  thread on %s%s\n", t.path, mark(t.resolved, " resolved"))
		for _, c := range t.comments {
			fmt.Fprintf(b, "    %s by %s\n", mark(c.review.pending(), "draft ")+"comment", loginOf(c.author))
			dumpText(b, c.body)
			dumpReactions(b, "    ", viewReactions(c.reactions))
		}
	}
}

func dumpText(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		b.WriteString(strings.TrimRight("    | "+line, " ") + "\n")
	}
}

func dumpReactions(b *strings.Builder, indent string, list []string) {
	if len(list) > 0 {
		fmt.Fprintf(b, "%sreactions %s\n", indent, strings.Join(list, ", "))
	}
}
