package turn

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// pngOf is a PNG that says that it has a size, without pixels.
func pngOf(width, height uint32) []byte {
	head := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(head[4:], width)
	binary.BigEndian.PutUint32(head[8:], height)
	head[12], head[13] = 8, 6
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

// webpOf is the beginning of a WebP of one of its three forms.
func webpOf(form string, rest ...byte) []byte {
	return append([]byte("RIFF\x00\x00\x00\x00WEBP"+form+"\x00\x00\x00\x00"), append(rest, make([]byte, 20)...)...)
}

func TestWhatAnAttachmentIs(t *testing.T) {
	var small, moving, photo bytes.Buffer
	for _, err := range []error{png.Encode(&small, image.NewGray(image.Rect(0, 0, 3, 2))), gif.Encode(&moving, image.NewGray(image.Rect(0, 0, 3, 2)), nil), jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 3, 2)), nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		content []byte
		ext     string
		why     string
	}{
		"png":              {small.Bytes(), ".png", ""},
		"gif":              {moving.Bytes(), ".gif", ""},
		"jpeg":             {photo.Bytes(), ".jpg", ""},
		"text":             {[]byte("panic: nil map\n"), ".txt", ""},
		"nothing":          {nil, ".txt", ""},
		"svg":              {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), ".txt", ""},
		"page":             {[]byte("<!DOCTYPE html><script>x()</script>"), "", "it is a page"},
		"huge png":         {pngOf(10_000, 10_000), "", "10000 × 10000 pixels"},
		"png of overflow":  {pngOf(1<<31-1, 1<<31-1), "", "broken"},
		"large png":        {pngOf(6000, 6000), ".png", ""},
		"broken png":       {small.Bytes()[:20], "", "broken"},
		"huge webp":        {webpOf("VP8X", 0, 0, 0, 0, 0x0f, 0x27, 0, 0x0f, 0x27, 0), "", "10000 × 10000 pixels"},
		"webp":             {webpOf("VP8X", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0), ".webp", ""},
		"webp, lossless":   {webpOf("VP8L", 0x2f, 0xff, 0xff, 0xff, 0x0f), "", "16384 × 16384 pixels"},
		"webp, of old":     {webpOf("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 8, 0, 8, 0), ".webp", ""},
		"cut webp":         {webpOf("VP8X")[:20], "", "broken"},
		"program":          {[]byte("\x7fELF\x00\x01"), "", "neither an image"},
		"text with a zero": {[]byte("a\x00b"), "", "neither an image"},
		"other encoding":   {[]byte("\xff\xfe\x41"), "", "neither an image"},
		"long text":        {bytes.Repeat([]byte("a"), mostText+1), "", "a text of more than 1 MB"},
	} {
		got, err := extensionOf(c.content)
		if got != c.ext || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWhoseAttachmentsAreFetched(t *testing.T) {
	at := func(n string) string {
		return "https://github.com/user-attachments/assets/00000000-0000-4000-8000-00000000000" + n
	}
	c := prompts.Context{}
	c.Task.Issue = prompts.Issue{Body: at("1") + " " + at("2"), Role: prompts.RoleWrite, Comments: []prompts.Comment{
		{Body: at("3"), Role: prompts.RoleWrite}, {Body: at("4"), Role: prompts.RoleNone}, {Body: at("5"), Role: prompts.RoleWrite},
	}}
	c.NewEvents = []prompts.NewEvent{{Body: at("6") + " " + at("1"), Role: prompts.RoleWrite}, {Body: at("7")}}
	said := func(kind work.Kind, host string) string {
		var out []string
		name := work.RepoName{Host: host, Owner: "octo", Name: "old"}
		r := &env.Repo{Remote: env.Remote{Name: name}, Row: work.Repo{Current: work.RepoName{Host: host, Owner: "octo", Name: "app"}}}
		for _, a := range attachedTo(r, c, kind) {
			out = append(out, a.URL[len(a.URL)-1:]+map[bool]string{true: "!"}[a.Why != ""])
		}
		return strings.Join(out, " ")
	}
	for kind, want := range map[work.Kind]string{work.KindBugfixStart: "6 1 7! 2 5 4! 3", work.KindReview: "6 1 7! 2 5 4! 3", work.KindImplementationFeedback: "6 1 7!"} {
		if got := said(kind, "github.com"); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	if got := said(work.KindReview, "ghe.example.com"); got != "" {
		t.Errorf("of another host: %s", got)
	}
	c.NewEvents = []prompts.NewEvent{{Body: "https://github.com/Octo/App/files/1/log.1 https://github.com/octo/old/files/1/log.2 https://github.com/octo/secrets/files/1/log.3", Role: prompts.RoleWrite}}
	if got := said(work.KindImplementationFeedback, "github.com"); got != "1 2 3!" {
		t.Errorf("of another repository: %s", got)
	}
	c.NewEvents = []prompts.NewEvent{{Body: at("6") + " " + at("1"), Role: prompts.RoleWrite}, {Body: at("7")}}
	c.Task.Issue.Role = prompts.RoleNone
	if got, want := said(work.KindBugfixStart, "github.com"), "6 1 7! 2! 5 4! 3"; got != want {
		t.Errorf("a stranger's issue: %s, want %s", got, want)
	}
}
