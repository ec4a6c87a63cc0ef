package work

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"
)

// digest is sha256, in hex, over parts that cannot run into one another.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = io.WriteString(h, strconv.Itoa(len(p))+":"+p+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashLen is the length of a ContentHash in hex digits: 64 bits tell the
// versions of one comment apart.
const hashLen = 16

// Normalise gives text the line endings that we send: bodies edited in
// GitHub's web UI come back with CRLF.
func Normalise(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// ContentHash names a version of what was said: hex over the normalised parts.
// Stamps have one-second resolution and are bumped by reactions; the content
// says what is new.
func ContentHash(parts ...string) string {
	norm := make([]string, len(parts))
	for i, p := range parts {
		norm[i] = Normalise(p)
	}
	return digest(norm...)[:hashLen]
}

// TurnKey names a turn. It is stored when the turn is claimed and never
// computed again for that turn: the head moves when the turn pushes.
func TurnKey(repo RepoKey, number int, kind Kind, head string, eventKeys []string) string {
	keys := slices.Sorted(slices.Values(eventKeys))
	return digest(append([]string{"turn", string(repo), strconv.Itoa(number), string(kind), head}, keys...)...)
}

// NextTurnKey names the turn after one that has ended, was about the same, and
// left its events to be answered.
func NextTurnKey(key string) string { return digest("next turn", key) }

// ShortKey is an event key where thousands must fit into one body. It begins
// with a sign that no key has.
func ShortKey(eventKey string) string { return "#" + digest("event", eventKey)[:8] }

// Tokens are made of what an action is for, so that an agent that
// words its answer differently the second time still answers once.

// ReplyToken is the token of the reply to one version of a review comment.
func ReplyToken(repo RepoKey, number int, commentID int64, hash string) string {
	return token("reply", repo, number, strconv.FormatInt(commentID, 10), hash)
}

// CommentToken is the token of the comment at a position of a turn.
func CommentToken(turnKey string, position int) string {
	return digest("comment", turnKey, strconv.Itoa(position))
}

// PullRequestToken is the token of the pull request of a branch.
func PullRequestToken(repo RepoKey, branch string) string {
	return token("pull_request", repo, 0, branch)
}

// PushToken is the token of a turn's push to a branch.
func PushToken(repo RepoKey, branch, expectedOld, turnKey string) string {
	return token("push", repo, 0, branch, expectedOld, turnKey)
}

// ResolveToken is the token of resolving a thread on behalf of a turn: a
// thread that a person opened again may be resolved again by a later turn.
func ResolveToken(repo RepoKey, number int, threadID, turnKey string) string {
	return token("resolve", repo, number, threadID, turnKey)
}

// RedirectToken is the token of the redirect for a comment on a source issue.
// It has no version: an edit never gives a second redirect.
func RedirectToken(repo RepoKey, number int, commentID string) string {
	return token("redirect", repo, number, commentID)
}

// NoticeToken is the token of a block notice or a command's answer: what it
// answers is a turn key or an event key.
func NoticeToken(repo RepoKey, number int, answers string) string {
	return token("notice", repo, number, answers)
}

// StopToken is the token of the comment that says why a work item is stopped:
// the same reason on the same issue or pull request is the same stop. What an
// agent asks, by its turn's key, is another each time, unless it asks the same
// in the same words as before: then the comment that there is counts on.
func StopToken(repo RepoKey, number int, reason Reason, asked string) string {
	if asked != "" {
		return NoticeToken(repo, number, asked)
	}
	return NoticeToken(repo, number, ContentHash(reason.Identity()))
}

// ReactionToken is the token of our reaction to a comment.
func ReactionToken(repo RepoKey, kind EventKind, commentID string) string {
	return token("reaction", repo, 0, string(kind), commentID)
}

// RemoveToken is the token of removing a second copy of our own comment.
func RemoveToken(repo RepoKey, kind EventKind, commentID string) string {
	return token("remove", repo, 0, string(kind), commentID)
}

// IssueToken is the token of the issue for a flaky test that the checks of a
// head showed.
func IssueToken(repo RepoKey, number int, head, test string) string {
	return token("issue", repo, number, head, test)
}

// RerunToken is the token of running the failed jobs of a workflow run again
// for a head: once, whatever asks for it.
func RerunToken(repo RepoKey, number int, head, run string) string {
	return token("rerun", repo, number, head, run)
}

// LabelsToken is the token of what the labels of an issue or pull request are to
// be, for one purpose: what is wanted may be renewed, and the newest counts.
func LabelsToken(repo RepoKey, number int, purpose string) string {
	return token("labels", repo, number, purpose)
}

// FlowToken is the token of the label that begins an issue's work: there is one
// wish at a time, and the newest counts.
func FlowToken(repo RepoKey, issue int) string {
	return token("flow", repo, issue)
}

// CloseToken is the token of closing a pull request for a command.
func CloseToken(repo RepoKey, pull int, commandKey string) string {
	return token("close", repo, pull, commandKey)
}

// ReviewToken is the token of a reviewer's review of a head.
func ReviewToken(repo RepoKey, number int, reviewer, head string, cycle int) string {
	return token("review", repo, number, reviewer, head, strconv.Itoa(cycle))
}

// FindingToken is the token of a comment of such a review, by its position in it.
func FindingToken(repo RepoKey, number int, reviewer, head string, cycle, position int) string {
	return token("finding", repo, number, reviewer, head, strconv.Itoa(cycle), strconv.Itoa(position))
}

// StatusToken is the token of what the reviews of a head have come to, as a commit
// status: what is wanted may be renewed, and the newest counts.
func StatusToken(repo RepoKey, head string) string { return token("status", repo, 0, head) }

// DismissToken is the token of taking a review of ours back, by its number on GitHub.
func DismissToken(repo RepoKey, number int, reviewID int64) string {
	return token("dismiss", repo, number, strconv.FormatInt(reviewID, 10))
}

// RequestToken is the token of asking a person for a review of a head.
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

// DequeueToken is the token of taking a pull request out of the queue into which it was put
// at a head: once for each time that it was, which is counted from 0.
func DequeueToken(repo RepoKey, pull int, head string, enqueued int) string {
	return token("dequeue", repo, pull, head, strconv.Itoa(enqueued))
}

// UpdateToken is the token of bringing a pull request's branch up to date from a head.
func UpdateToken(repo RepoKey, pull int, head string) string {
	return token("update_branch", repo, pull, head)
}

// DeleteBranchToken is the token of deleting the branch of a merged pull request.
func DeleteBranchToken(repo RepoKey, pull int, branch string) string {
	return token("delete_branch", repo, pull, branch)
}

// RevertToken is the token of the pull request that takes a landed commit back.
func RevertToken(repo RepoKey, pull int, commit string) string {
	return token("revert", repo, pull, commit)
}
