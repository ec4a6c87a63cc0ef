package work

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"
)

// digest returns the sha256 of parts, in hex. Each part is prefixed with its length, so that
// different parts never give the same input.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, strconv.Itoa(len(p))+":"+p+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashLen is the length of a ContentHash in hex digits. 64 bits are enough to tell the versions of
// one comment apart.
const hashLen = 16

// Normalise converts line endings to LF, which we send. GitHub's web UI saves edited bodies with
// CRLF.
func Normalise(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// ContentHash returns the hash of the normalised parts, in hex. It identifies a version of a
// comment; timestamps cannot, because they have a resolution of one second and reactions change
// them.
func ContentHash(parts ...string) string {
	norm := make([]string, len(parts))
	for i, p := range parts {
		norm[i] = Normalise(p)
	}
	return digest(norm...)[:hashLen]
}

// IssueHash identifies a version of an issue's title and text, without the markers of the text. Blank
// lines and spaces at the end of a line make no other version: they say nothing.
func IssueHash(title, body string) string {
	var lines []string
	for line := range strings.Lines(Normalise(Unmarked(body))) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return ContentHash(strings.TrimSpace(title), strings.Join(lines, "\n"))
}

// TurnKey returns the key of a turn. It is stored when the turn is claimed and never computed again
// for that turn, because the turn's push moves the head.
func TurnKey(repo RepoKey, number int, kind Kind, head string, eventKeys []string) string {
	keys := slices.Sorted(slices.Values(eventKeys))
	return digest(append([]string{"turn", string(repo), strconv.Itoa(number), string(kind), head}, keys...)...)
}

// NextTurnKey returns the key of the turn that follows an ended turn about the same events, which
// that turn left unanswered.
func NextTurnKey(key string) string { return digest("next turn", key) }

// ShortKey shortens an event key, so that thousands fit into one body. It starts with "#", which no
// event key contains.
func ShortKey(eventKey string) string { return "#" + digest("event", eventKey)[:8] }

// Tokens are made of an action's purpose, not of its text: an agent that words its answer
// differently the second time still answers once.

// ReplyToken is the token of the reply to one version of a review comment.
func ReplyToken(repo RepoKey, number int, commentID int64, hash string) string {
	return token("reply", repo, number, strconv.FormatInt(commentID, 10), hash)
}

// CommentToken is the token of a turn's comment in a conversation, of which a turn makes one.
func CommentToken(turnKey string) string { return digest("comment", turnKey) }

// PullRequestToken is the token of opening a branch's pull request.
func PullRequestToken(repo RepoKey, branch string) string {
	return token("pull_request", repo, 0, branch)
}

// PushToken is the token of a turn's push to a branch.
func PushToken(repo RepoKey, branch, expectedOld, turnKey string) string {
	return token("push", repo, 0, branch, expectedOld, turnKey)
}

// ResolveToken is the token of resolving a thread for a turn. If a person reopens the thread, a
// later turn may resolve it again.
func ResolveToken(repo RepoKey, number int, threadID, turnKey string) string {
	return token("resolve", repo, number, threadID, turnKey)
}

// RedirectToken is the token of the redirect for a comment on a source issue. It does not depend on
// the comment's version: an edit never causes a second redirect.
func RedirectToken(repo RepoKey, number int, commentID string) string {
	return token("redirect", repo, number, commentID)
}

// NoticeToken is the token of a block notice or of the answer to a command. answers is a turn key
// or an event key.
func NoticeToken(repo RepoKey, number int, answers string) string {
	return token("notice", repo, number, answers)
}

// TableToken is the token of the comment with the table of a roadmap.
func TableToken(repo RepoKey, number int) string { return token("roadmap table", repo, number) }

// StopToken is the token of the comment that says why a work item is stopped. The same reason on
// the same issue or pull request is the same stop. If an agent asks a question, asked is the turn's
// key and each question is a new stop. If it repeats the words of the last question, the existing
// comment is kept.
func StopToken(repo RepoKey, number int, reason Reason, asked string) string {
	if asked != "" {
		return NoticeToken(repo, number, asked)
	}
	return NoticeToken(repo, number, ContentHash(reason.identity()))
}

// ReactionToken is the token of our reaction to a comment.
func ReactionToken(repo RepoKey, kind EventKind, commentID string) string {
	return token("reaction", repo, 0, string(kind), commentID)
}

// RemoveToken is the token of removing a duplicate of our own comment.
func RemoveToken(repo RepoKey, kind EventKind, commentID string) string {
	return token("remove", repo, 0, string(kind), commentID)
}

// IssueToken is the token of the issue about a flaky test that a head's checks showed.
func IssueToken(repo RepoKey, number int, head, test string) string {
	return token("issue", repo, number, head, test)
}

// RerunToken is the token of rerunning the failed jobs of a workflow run for a head. It is done
// once, even if several turns need it.
func RerunToken(repo RepoKey, number int, head, run string) string {
	return token("rerun", repo, number, head, run)
}

// EditPullToken is the token of a turn's new title and text for its pull request.
func EditPullToken(repo RepoKey, number int, turnKey string) string {
	return token("edit pull", repo, number, turnKey)
}

// LabelsToken is the token of setting the labels of an issue or pull request, for one purpose. The
// action may be renewed; the newest content counts.
func LabelsToken(repo RepoKey, number int, purpose string) string {
	return token("labels", repo, number, purpose)
}

// FlowToken is the token of the label that starts an issue's flow. There is one such action at a
// time; the newest content counts.
func FlowToken(repo RepoKey, issue int) string {
	return token("flow", repo, issue)
}

// CloseToken is the token of closing a pull request for a command.
func CloseToken(repo RepoKey, pull int, commandKey string) string {
	return token("close", repo, pull, commandKey)
}

// ChildToken is the token of opening the sub-issue of a node of the roadmap that a pull request began: the
// issue may have had another one before. It stays in the sub-issue's text when that is edited.
func ChildToken(repo RepoKey, roadmap, run int, node string) string {
	return token("child", repo, roadmap, strconv.Itoa(run), node)
}

// FaultsToken is the token of the comment about the faults of the document that a roadmap's pull request has.
func FaultsToken(repo RepoKey, pull int) string {
	return NoticeToken(repo, pull, "faults of the document")
}

// FollowupToken is the token of opening a follow-up of an issue, by its number.
func FollowupToken(repo RepoKey, issue, number int) string {
	return token("follow-up", repo, issue, strconv.Itoa(number))
}

// BlockToken is the token of making an issue blocked by another one, or of ending that, for a cause
// such as the commit of a document: what a person changes afterwards stays.
func BlockToken(repo RepoKey, number int, blocker, base, cause string) string {
	return token("block", repo, number, blocker, base, cause)
}

// EditIssueToken is the token of replacing a version of an issue, by its IssueHash, by another one.
func EditIssueToken(repo RepoKey, number int, from, to string) string {
	return token("edit_issue", repo, number, from, to)
}

// CloseIssueToken is the token of closing an issue for a cause, such as a command's key.
func CloseIssueToken(repo RepoKey, number int, cause string) string {
	return token("close_issue", repo, number, cause)
}

// ReviewToken is the token of a reviewer's review of a head.
func ReviewToken(repo RepoKey, number int, reviewer, head string, cycle int) string {
	return token("review", repo, number, reviewer, head, strconv.Itoa(cycle))
}

// FindingToken is the token of a comment in a reviewer's review, by its position in the review.
func FindingToken(repo RepoKey, number int, reviewer, head string, cycle, position int) string {
	return token("finding", repo, number, reviewer, head, strconv.Itoa(cycle), strconv.Itoa(position))
}

// StatusToken is the token of the commit status with the result of a head's reviews. The action may
// be renewed; the newest content counts.
func StatusToken(repo RepoKey, head string) string { return token("status", repo, 0, head) }

// DismissToken is the token of dismissing one of our reviews, by its id on GitHub.
func DismissToken(repo RepoKey, number int, reviewID int64) string {
	return token("dismiss", repo, number, strconv.FormatInt(reviewID, 10))
}

// ReadyToken is the token of marking a draft of ours as ready for review at a head.
func ReadyToken(repo RepoKey, number int, head string) string {
	return token("ready", repo, number, head)
}

// RequestToken is the token of requesting a person's review of a head.
func RequestToken(repo RepoKey, number int, reviewer, head string) string {
	return token("request", repo, number, reviewer, head)
}

func token(what string, repo RepoKey, number int, parts ...string) string {
	return digest(append([]string{what, string(repo), strconv.Itoa(number)}, parts...)...)
}

// MergeToken is the token of merging a pull request at a head, at most once.
func MergeToken(repo RepoKey, pull int, head string) string {
	return token("merge", repo, pull, head)
}

// EnqueueToken is the token of queueing a pull request at a head, at most once.
func EnqueueToken(repo RepoKey, pull int, head string) string {
	return token("enqueue", repo, pull, head)
}

// DequeueToken is the token of dequeuing a pull request that was queued at a head. enqueued counts
// the times it was queued, from 0: it is dequeued once each time.
func DequeueToken(repo RepoKey, pull int, head string, enqueued int) string {
	return token("dequeue", repo, pull, head, strconv.Itoa(enqueued))
}

// UpdateToken is the token of updating a pull request's branch from its base, at a head.
func UpdateToken(repo RepoKey, pull int, head string) string {
	return token("update_branch", repo, pull, head)
}
