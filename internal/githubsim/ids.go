package githubsim

import (
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// kind is a kind of object that has ids of its own.
type kind string

// The kinds; each word is the prefix of its node ids.
const (
	kindUser       kind = "U"
	kindRepo       kind = "R"
	kindRelease    kind = "RE"
	kindAsset      kind = "RA"
	kindIssue      kind = "I"
	kindPull       kind = "PR"
	kindComment    kind = "IC"
	kindReview     kind = "PRR"
	kindThread     kind = "PRRT"
	kindDiff       kind = "PRRC"
	kindReaction   kind = "REA"
	kindLabel      kind = "LA"
	kindEvent      kind = "EV"
	kindCheckRun   kind = "CR"
	kindCheckSuite kind = "CS"
	kindStatus     kind = "SC"
	kindCommit     kind = "C"
	kindRef        kind = "REF"
)

// firstIDs are about as large as GitHub's own are, so that nobody mistakes an id for a number, or
// one kind for another.
var firstIDs = map[kind]int64{
	kindUser: 1_000_300, kindRepo: 500_000_100, kindRelease: 150_000_100, kindAsset: 160_000_100, kindIssue: 2_000_000_300, kindPull: 1_800_000_200,
	kindComment: 3_000_000_100, kindReview: 2_500_000_100, kindThread: 90_000_100, kindDiff: 2_200_000_300,
	kindReaction: 270_000_100, kindLabel: 6_500_000_100, kindEvent: 17_000_000_100, kindCheckRun: 31_000_000_100,
	kindCheckSuite: 24_000_000_100, kindStatus: 28_000_000_100,
}

// newID gives the next id of a kind and its node id. The n-th of a kind always has the same.
func (h *Hub) newID(k kind) (int64, string) {
	h.made[k]++
	id := firstIDs[k] + h.made[k]*7
	return id, nodeID(k, id)
}

// perRepo is how many issues, pull requests, comments and reviews a repository can have, of each kind.
const perRepo = 1_000_000

// newID gives the next id of a kind in the repository, whatever is made elsewhere: its n-th comment always has the same.
func (r *Repo) newID(k kind) (int64, string) {
	r.made[k]++
	id := firstIDs[k] + (r.place*perRepo+r.made[k])*7
	return id, nodeID(k, id)
}

// nodeID is the opaque global id of the object of kind k with that database id.
func nodeID(k kind, id int64) string {
	return string(k) + "_" + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(id)))
}

// nodeInText finds node ids in the body of a request.
var nodeInText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(I|PR|IC|PRR|PRRT|PRRC)_([\w-]+)"`) })

// Concerns reports whether a request is below the repository's path, or names something of it.
func (r *Repo) Concerns(rq Request) bool { return r.concerns(r.below(), &rq) }

// below is the path of what is in the repository.
func (r *Repo) below() string { return "/repos/" + r.FullName() + "/" }

// concerns is Concerns for who holds a lock and knows the path.
func (r *Repo) concerns(below string, rq *Request) bool {
	return strings.Contains(rq.Path, below) || r.namesNode(rq.Body)
}

// namesNode reports whether a text names an issue, a pull request, a comment or a review of the repository.
func (r *Repo) namesNode(text string) bool {
	for _, m := range nodeInText().FindAllStringSubmatch(text, -1) {
		b, err := base64.RawURLEncoding.DecodeString(m[2])
		if err == nil && len(b) == 8 && (int64(binary.BigEndian.Uint64(b))-firstIDs[kind(m[1])])/7/perRepo == r.place { //nolint:gosec // ours are small
			return true
		}
	}
	return false
}

// namedNodeID is the global id of something that has a name in a repository instead of a database
// id: a commit, a ref.
func namedNodeID(k kind, repoID int64, name string) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(repoID))
	return string(k) + "_" + base64.RawURLEncoding.EncodeToString(append(b, name...))
}

// nodeByID finds the model object with that node id: *user, *Repo, *issue (without a pull), *pull,
// *comment, *review, *thread, *reviewComment, *reaction, *label, *checkRun, *checkSuite, *status or
// *queueEntry; nil when there is none.
func (h *Hub) nodeByID(id string) any {
	return h.nodes[id]
}

// mostRepos is how many repositories have ids that Ordinal tells from those of other kinds.
const mostRepos = 40

// ordinalPrefixes are the letters of Ordinal.
var ordinalPrefixes = map[kind]string{kindComment: "c", kindDiff: "r", kindReview: "v"}

// Ordinal names a conversation comment (c1, c2, …), a review comment (r1, …) or a review (v1, …) by
// its place among all of its kind that were ever made in its repository; "" for other ids.
func Ordinal(id int64) string {
	for k, prefix := range ordinalPrefixes {
		if n := id - firstIDs[k]; n > 0 && n < 7*perRepo*mostRepos && n%7 == 0 {
			return prefix + strconv.FormatInt(n/7%perRepo, 10)
		}
	}
	return ""
}

// FromOrdinal is the id in the repository that Ordinal names so; false when it is no ordinal.
func (r *Repo) FromOrdinal(name string) (int64, bool) {
	for k, prefix := range ordinalPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n > 0 {
				return firstIDs[k] + (r.place*perRepo+n)*7, true
			}
		}
	}
	return 0, false
}
