package github

import (
	"github.com/mergexo/gh-mergexo/internal/github/access"
	"github.com/mergexo/gh-mergexo/internal/github/labels"
)

// KnownAccounts and the others tell what gh has written down of accounts and tokens.
var KnownAccounts, LoggedIn, TokenSource, TokenKindOf = access.KnownAccounts, access.LoggedIn, access.TokenSource, access.KindOf

// Access asks what the client's token and account may do.
func (c *Client) Access() access.Access { return access.New(c.Client) }

// Labels are the requests about the labels of repositories, one by one.
func (c *Client) Labels() Labels { return labels.New(c.Client) }
