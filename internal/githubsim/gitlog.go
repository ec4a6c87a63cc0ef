package githubsim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// commitInfo is one commit as git tells it.
type commitInfo struct {
	oid, tree string
	parents   []string
	author    signature
	committer signature
	message   string
}

const logFormat = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x00"

// log lists commits, newest first; args are revisions and options.
func (g *gitDir) log(args ...string) ([]commitInfo, error) {
	out, err := g.run(append(append([]string{"log", logFormat}, args...), "--")...)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	fields := strings.Split(out, "\x00")
	var list []commitInfo
	for ; len(fields) > 10; fields = fields[10:] {
		list = append(list, commitInfo{
			oid: strings.TrimSpace(fields[0]), tree: fields[1], parents: strings.Fields(fields[2]),
			author:    signature{name: fields[3], email: fields[4], at: unixTime(fields[5])},
			committer: signature{name: fields[6], email: fields[7], at: unixTime(fields[8])},
			message:   strings.TrimRight(fields[9], "\n"),
		})
	}
	g.mu.Lock()
	for _, c := range list {
		g.memo["commit "+c.oid] = c
	}
	g.mu.Unlock()
	return list, nil
}

func unixTime(s string) time.Time {
	sec, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(sec, 0).UTC()
}

// commit reads one commit by its full id.
func (g *gitDir) commit(oid string) (commitInfo, error) {
	return cached(g, "commit "+oid, func() (commitInfo, error) {
		list, err := g.log("-1", oid)
		if err != nil || len(list) != 1 {
			return commitInfo{}, fmt.Errorf("read commit %s: %w", oid, err)
		}
		return list[0], nil
	})
}

// between lists the commits of base..head, newest first; base and head are full ids.
func (g *gitDir) between(base, head string) ([]commitInfo, error) {
	return cached(g, "between "+base+" "+head, func() ([]commitInfo, error) { return g.log("--topo-order", base+".."+head) })
}

// mergeBase is the best common ancestor, "" when there is none.
func (g *gitDir) mergeBase(a, b string) (string, error) {
	return cached(g, "base "+a+" "+b, func() (string, error) {
		if a == b {
			return a, nil
		}
		out, err := g.run("merge-base", a, b)
		if exitCode(err) == 1 {
			return "", nil
		}
		return out, err
	})
}

// isAncestor tells whether a can be reached from b.
func (g *gitDir) isAncestor(a, b string) bool {
	base, err := g.mergeBase(a, b)
	return err == nil && base == a
}

// resolve finds the commit that a branch, a full ref, a tag or an id names.
func (g *gitDir) resolve(name string) (string, bool) {
	if oid, ok := g.head(name); ok {
		return oid, true
	}
	if isOID(name) {
		oid, err := cached(g, "is "+name, func() (string, error) { return g.run("rev-parse", "--verify", "--quiet", name+"^{commit}") })
		return oid, err == nil
	}
	for _, try := range []string{name, "refs/" + name, "refs/tags/" + name} {
		if strings.HasPrefix(try, "-") {
			continue
		}
		if oid, err := g.run("rev-parse", "--verify", "--quiet", try+"^{commit}"); err == nil {
			return oid, true
		}
	}
	return "", false
}

// entry is one line of a tree.
type entry struct {
	mode, kind, oid, path string
	size                  int
}

// list shows the entries of a tree, or the one entry that path names when it does not end with a
// slash.
func (g *gitDir) list(treeish, path string, recursive bool) ([]entry, error) {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if recursive {
		args = append(args, "-r", "-t")
	}
	args = append(args, treeish)
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := g.run(args...)
	if err != nil {
		return nil, fmt.Errorf("list tree: %w", err)
	}
	var list []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			continue
		}
		size, _ := strconv.Atoi(f[3]) // "-" for trees
		list = append(list, entry{mode: f[0], kind: f[1], oid: f[2], path: name, size: size})
	}
	return list, nil
}

// file reads a file at a commit.
func (g *gitDir) file(commit, path string) ([]byte, bool) {
	out, err := g.exec(nil, "", "--git-dir="+g.dir, "cat-file", "blob", commit+":"+path)
	return out, err == nil
}
