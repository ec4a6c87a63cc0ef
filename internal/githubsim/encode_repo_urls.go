package githubsim

// repoURLs are the addresses inside a repository's answer.
type repoURLs struct {
	ArchiveURL       string `json:"archive_url"`
	AssigneesURL     string `json:"assignees_url"`
	BlobsURL         string `json:"blobs_url"`
	BranchesURL      string `json:"branches_url"`
	CollaboratorsURL string `json:"collaborators_url"`
	CommentsURL      string `json:"comments_url"`
	CommitsURL       string `json:"commits_url"`
	CompareURL       string `json:"compare_url"`
	ContentsURL      string `json:"contents_url"`
	ContributorsURL  string `json:"contributors_url"`
	DeploymentsURL   string `json:"deployments_url"`
	DownloadsURL     string `json:"downloads_url"`
	EventsURL        string `json:"events_url"`
	ForksURL         string `json:"forks_url"`
	GitCommitsURL    string `json:"git_commits_url"`
	GitRefsURL       string `json:"git_refs_url"`
	GitTagsURL       string `json:"git_tags_url"`
	HooksURL         string `json:"hooks_url"`
	IssueCommentURL  string `json:"issue_comment_url"`
	IssueEventsURL   string `json:"issue_events_url"`
	IssuesURL        string `json:"issues_url"`
	KeysURL          string `json:"keys_url"`
	LabelsURL        string `json:"labels_url"`
	LanguagesURL     string `json:"languages_url"`
	MergesURL        string `json:"merges_url"`
	MilestonesURL    string `json:"milestones_url"`
	NotificationsURL string `json:"notifications_url"`
	PullsURL         string `json:"pulls_url"`
	ReleasesURL      string `json:"releases_url"`
	StargazersURL    string `json:"stargazers_url"`
	StatusesURL      string `json:"statuses_url"`
	SubscribersURL   string `json:"subscribers_url"`
	SubscriptionURL  string `json:"subscription_url"`
	TagsURL          string `json:"tags_url"`
	TeamsURL         string `json:"teams_url"`
	TreesURL         string `json:"trees_url"`
}

func newRepoURLs(at string) repoURLs {
	return repoURLs{
		ArchiveURL:       at + "/{archive_format}{/ref}",
		AssigneesURL:     at + "/assignees{/user}",
		BlobsURL:         at + "/git/blobs{/sha}",
		BranchesURL:      at + "/branches{/branch}",
		CollaboratorsURL: at + "/collaborators{/collaborator}",
		CommentsURL:      at + "/comments{/number}",
		CommitsURL:       at + "/commits{/sha}",
		CompareURL:       at + "/compare/{base}...{head}",
		ContentsURL:      at + "/contents/{+path}",
		ContributorsURL:  at + "/contributors",
		DeploymentsURL:   at + "/deployments",
		DownloadsURL:     at + "/downloads",
		EventsURL:        at + "/events",
		ForksURL:         at + "/forks",
		GitCommitsURL:    at + "/git/commits{/sha}",
		GitRefsURL:       at + "/git/refs{/sha}",
		GitTagsURL:       at + "/git/tags{/sha}",
		HooksURL:         at + "/hooks",
		IssueCommentURL:  at + "/issues/comments{/number}",
		IssueEventsURL:   at + "/issues/events{/number}",
		IssuesURL:        at + "/issues{/number}",
		KeysURL:          at + "/keys{/key_id}",
		LabelsURL:        at + "/labels{/name}",
		LanguagesURL:     at + "/languages",
		MergesURL:        at + "/merges",
		MilestonesURL:    at + "/milestones{/number}",
		NotificationsURL: at + "/notifications{?since,all,participating}",
		PullsURL:         at + "/pulls{/number}",
		ReleasesURL:      at + "/releases{/id}",
		StargazersURL:    at + "/stargazers",
		StatusesURL:      at + "/statuses/{sha}",
		SubscribersURL:   at + "/subscribers",
		SubscriptionURL:  at + "/subscription",
		TagsURL:          at + "/tags",
		TeamsURL:         at + "/teams",
		TreesURL:         at + "/git/trees{/sha}",
	}
}
