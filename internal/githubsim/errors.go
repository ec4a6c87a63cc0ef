package githubsim

import (
	"net/http"
	"strings"
)

// apiError is a refusal in GitHub's words. The control API returns it as an error.
type apiError struct {
	status  int
	message string
	items   []errorItem
	texts   []string // instead of items, where GitHub answers with plain sentences
}

// errorItem is one line of a 422.
type errorItem struct {
	Resource string `json:"resource,omitempty"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

func (e *apiError) Error() string {
	parts := append([]string{e.message}, e.texts...)
	for _, it := range e.items {
		parts = append(parts, strings.TrimSpace(it.Resource+" "+it.Field+" "+it.Code+" "+it.Message))
	}
	return strings.Join(parts, ": ")
}

func refusal(status int, message string) *apiError {
	return &apiError{status: status, message: message}
}

func notFound() *apiError { return refusal(http.StatusNotFound, "Not Found") }

func forbidden(message string) *apiError { return refusal(http.StatusForbidden, message) }

// invalid is a 422 with the fields that are wrong.
func invalid(items ...errorItem) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, message: "Validation Failed", items: items}
}

// unprocessable is a 422 with plain sentences.
func unprocessable(texts ...string) *apiError {
	return &apiError{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity", texts: texts}
}

func missing(resource, field string) *apiError {
	return invalid(errorItem{Resource: resource, Field: field, Code: "missing_field"})
}

// pullRefusal is a 422 about a pull request in words of its own.
func pullRefusal(message string) *apiError {
	return invalid(errorItem{Resource: "PullRequest", Code: "custom", Message: message})
}

const maxBody = 65536

// checkBody refuses what GitHub refuses of a text.
func checkBody(resource, body string) *apiError {
	if len([]rune(body)) > maxBody {
		return invalid(errorItem{Resource: resource, Field: "body", Code: "custom", Message: "body is too long (maximum is 65536 characters)"})
	}
	return nil
}

// needBody is checkBody for texts that must not be blank.
func needBody(resource, body string) *apiError {
	if strings.TrimSpace(body) == "" {
		return missing(resource, "body")
	}
	return checkBody(resource, body)
}
