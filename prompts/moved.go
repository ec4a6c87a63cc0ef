package prompts

import (
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Secrets is secrets.Redactor.
type Secrets = secrets.Redactor

// CleanBody is public.Body.
func CleanBody(s string) string { return public.Body(s) }

// CleanBehind is public.Behind.
func CleanBehind(s string) string { return public.Behind(s) }

// CleanTitle is public.Title.
func CleanTitle(s string) string { return public.Title(s) }

// CleanMessage is public.Message.
func CleanMessage(s string) string { return public.Message(s) }

// NoClosing is public.NoClosing.
func NoClosing(s string) string { return public.NoClosing(s) }

// Balanced is public.Balanced.
func Balanced(s string) string { return public.Balanced(s) }

// Cut is public.Cut.
func Cut(s string, limit int) string { return public.Cut(s, limit) }
