package githubsim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/mergexo/gh-mergexo/internal/github"
)

// alsoThere is what we ask of GitHub's schema that the shared folder leaves out; GitHub's
// reference has it.
const alsoThere = `
extend type MergeQueueEntry { enqueuer: Actor! }
extend type Issue {
  timelineItems(after: String, before: String, first: Int, itemTypes: [IssueTimelineItemsItemType!], last: Int, since: DateTime): IssueTimelineItemsConnection!
}
type IssueTimelineItemsConnection { nodes: [IssueTimelineItems] pageInfo: PageInfo! totalCount: Int! }
extend type PullRequestTimelineItemsConnection { nodes: [PullRequestTimelineItems] }
union IssueTimelineItems = LabeledEvent | RenamedTitleEvent | UnlabeledEvent
union PullRequestTimelineItems = AddedToMergeQueueEvent | BaseRefChangedEvent | BaseRefForcePushedEvent | LabeledEvent | RemovedFromMergeQueueEvent | RenamedTitleEvent | UnlabeledEvent
type AddedToMergeQueueEvent implements Node { actor: Actor createdAt: DateTime! id: ID! }
type RemovedFromMergeQueueEvent implements Node { actor: Actor beforeCommit: Commit createdAt: DateTime! id: ID! reason: String }
type BaseRefChangedEvent implements Node { actor: Actor createdAt: DateTime! id: ID! }
type BaseRefForcePushedEvent implements Node { actor: Actor createdAt: DateTime! id: ID! }
type LabeledEvent implements Node { actor: Actor createdAt: DateTime! id: ID! label: Label! }
type UnlabeledEvent implements Node { actor: Actor createdAt: DateTime! id: ID! label: Label! }
type RenamedTitleEvent implements Node { actor: Actor createdAt: DateTime! currentTitle: String! id: ID! previousTitle: String! }
extend type IssueComment { userContentEdits(after: String, before: String, first: Int, last: Int): UserContentEditConnection }
extend type PullRequestReview {
  editor: Actor minimizedReason: String
  userContentEdits(after: String, before: String, first: Int, last: Int): UserContentEditConnection
}
extend type PullRequestReviewComment {
  editor: Actor minimizedReason: String
  userContentEdits(after: String, before: String, first: Int, last: Int): UserContentEditConnection
}
type UserContentEditConnection { nodes: [UserContentEdit] pageInfo: PageInfo! totalCount: Int! }
type UserContentEdit { diff: String editedAt: DateTime! editor: Actor }
extend type Commit { authors(after: String, before: String, first: Int, last: Int): GitActorConnection! }
type GitActorConnection { nodes: [GitActor] pageInfo: PageInfo! totalCount: Int! }
type GitActor { email: String name: String user: User }
extend type Mutation { createIssue(input: CreateIssueInput!): CreateIssuePayload }
input CreateIssueInput {
  assigneeIds: [ID!] body: String clientMutationId: String issueTemplate: String labelIds: [ID!] milestoneId: ID parentIssueId: ID projectIds: [ID!]
  repositoryId: ID! title: String!
}
type CreateIssuePayload { clientMutationId: String issue: Issue }
enum IssueTimelineItemsItemType { LABELED_EVENT RENAMED_TITLE_EVENT UNLABELED_EVENT }
`

// gitHubSchema is GitHub's own schema, as far as the shared folder has it.
func gitHubSchema(t *testing.T) *ast.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedFolder(t), "graphql-subset.graphql"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "graphql-subset.graphql", Input: string(text)}, &ast.Source{Name: "alsoThere", Input: alsoThere})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the client sends must be valid for GitHub, not only for the simulator.
func TestContractGraphQLDocuments(t *testing.T) {
	schema := gitHubSchema(t)
	documents := github.Queries()
	if len(documents) < 5 {
		t.Fatalf("only %d documents", len(documents))
	}
	for name, text := range documents {
		if _, err := gqlparser.LoadQueryWithRules(schema, text, rules.NewDefaultRules()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := gqlparser.LoadQueryWithRules(schema, `{ viewer { loginn } }`, rules.NewDefaultRules()); err == nil {
		t.Error("the check lets anything pass")
	}
}

// beyondSubset is what gh asks of GitHub that the shared folder does not describe; the rest of what
// is served must be there, with the same type.
var beyondSubset = []string{
	"PullRequest.assignees", "PullRequest.milestone", "PullRequest.projectCards", "PullRequest.reactionGroups",
	"PullRequestReview.reactionGroups", "ReactionGroup.users", "Team.organization",
	"Issue.milestone", "Issue.projectCards", "Issue.reactionGroups", "Issue.state",
	"Repository.description", "Repository.hasIssuesEnabled", "Repository.hasProjectsEnabled", "Repository.hasWikiEnabled",
	"Repository.homepageUrl", "Repository.parent",
	"Mutation.addPullRequestReview", "AddPullRequestReviewInput", "AddPullRequestReviewPayload", "PullRequestReviewEvent",
	"Mutation.reopenPullRequest", "ReopenPullRequestInput", "ReopenPullRequestPayload",
	"Mutation.reopenIssue", "ReopenIssueInput", "ReopenIssuePayload", "Mutation.updateIssue", "UpdateIssueInput", "UpdateIssuePayload",
	"PullRequest.projectItems", "Issue.projectItems", "ProjectV2ItemConnection", "ProjectV2Item", "ProjectV2", "Repository.assignableUsers",
	"Ref.branchProtectionRule", "BranchProtectionRule", "PullRequestConnection.edges", "PullRequestEdge", "SearchResultItemEdge",
	"Organization.teams", "TeamConnection", "TeamOrder", "TeamOrderField", "Query.organization",
	"Query.search", "SearchType", "SearchResultItem", "SearchResultItemConnection",
	"Commit.messageBody", "Milestone", "Project", "ProjectColumn", "ProjectCard", "ProjectCardConnection", "ReactingUserConnection",
}

func TestContractGraphQLSchema(t *testing.T) {
	theirs := gitHubSchema(t)
	ours, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	beyond := func(name string) bool {
		used[name] = true
		return slices.Contains(beyondSubset, name)
	}
	for name, def := range ours.Types {
		if def.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		other := theirs.Types[name]
		if other == nil {
			if !beyond(name) {
				t.Errorf("%s: GitHub has no such type", name)
			}
			continue
		}
		if other.Kind != def.Kind {
			t.Errorf("%s is a %s, GitHub's a %s", name, def.Kind, other.Kind)
		}
		for _, f := range def.Fields {
			if !strings.HasPrefix(f.Name, "__") {
				compareField(t, name, f, other.Fields.ForName(f.Name), beyond)
			}
		}
		for _, v := range def.EnumValues {
			if other.EnumValues.ForName(v.Name) == nil {
				t.Errorf("%s.%s: GitHub has no such value", name, v.Name)
			}
		}
		for _, m := range def.Types {
			if !slices.Contains(other.Types, m) {
				t.Errorf("%s: GitHub's has no %s", name, m)
			}
		}
		for _, i := range def.Interfaces {
			if !slices.Contains(other.Interfaces, i) {
				t.Errorf("%s: GitHub's implements no %s", name, i)
			}
		}
	}
	for _, name := range beyondSubset {
		if !used[name] {
			t.Errorf("%s is excused for nothing", name)
		}
	}
}

// compareField compares a field and its arguments with GitHub's.
func compareField(t *testing.T, object string, ours, theirs *ast.FieldDefinition, beyond func(string) bool) {
	t.Helper()
	name := object + "." + ours.Name
	if theirs == nil {
		if !beyond(name) {
			t.Errorf("%s: GitHub has no such field", name)
		}
		return
	}
	if ours.Type.String() != theirs.Type.String() && !beyond(name) {
		t.Errorf("%s is %s, GitHub's %s", name, ours.Type, theirs.Type)
	}
	for _, a := range ours.Arguments {
		other := theirs.Arguments.ForName(a.Name)
		if other == nil {
			t.Errorf("%s(%s): GitHub has no such argument", name, a.Name)
			continue
		}
		if a.Type.String() != other.Type.String() || value(a.DefaultValue) != value(other.DefaultValue) {
			t.Errorf("%s(%s) is %s = %s, GitHub's %s = %s", name, a.Name, a.Type, value(a.DefaultValue), other.Type, value(other.DefaultValue))
		}
	}
	if value(ours.DefaultValue) != value(theirs.DefaultValue) {
		t.Errorf("%s defaults to %s, GitHub's to %s", name, value(ours.DefaultValue), value(theirs.DefaultValue))
	}
}

func value(v *ast.Value) string {
	if v == nil {
		return "nothing"
	}
	return v.String()
}
