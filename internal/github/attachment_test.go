package github

import (
	"strings"
	"testing"
)

func TestAttachmentsOfAText(t *testing.T) {
	const id = "12345678-90ab-cdef-1234-567890abcdef"
	text := strings.Join([]string{
		"![a](https://github.com/user-attachments/assets/" + id + ")", "twice: https://github.com/user-attachments/assets/" + id,
		`<img src="https://github.com/octo/app/assets/123/` + id + `">`, "[log](https://github.com/user-attachments/files/42/crash.log)",
		"https://user-images.githubusercontent.com/1/2-3.png", "See https://github.com/octo/app/files/7/old.log.", "https://github.com/octo/app/issues/1", "https://github.com.evil.example/user-attachments/assets/" + id,
		"https://evil.example/https://github.com/user-attachments/assets/short",
	}, "\n")
	var got []string
	for _, a := range Attachments("github.com", text) {
		got = append(got, strings.TrimPrefix(a.Repo+" "+a.URL, " "))
	}
	want := "https://github.com/user-attachments/assets/" + id + " octo/app https://github.com/octo/app/assets/123/" + id +
		" https://github.com/user-attachments/files/42/crash.log https://user-images.githubusercontent.com/1/2-3.png octo/app https://github.com/octo/app/files/7/old.log"
	if got := strings.Join(got, " "); got != want {
		t.Errorf("got %s", got)
	}
	if got := Attachments("ghe.example.com", text); len(got) > 0 {
		t.Errorf("of another host: %q", got)
	}
}
