package turn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // its size is read
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Images, texts and logs that somebody who counts attached to a text of the prompt are files of the checkout, beside
// its tree: nothing there is committed. What they are is judged by their content alone.

// Bounds of one attachment.
const (
	mostAttached = 5 << 20  // bytes
	mostText     = 1 << 20  // bytes of a text
	mostPixels   = 40 << 20 // a small file may unfold to any size
)

// attachmentsDir is their folder in a checkout.
var attachmentsDir = filepath.Join(".git", "attachments")

// attachments fetches the files of a prompt's texts, and says of those that could not be had why.
func (p *runner) attachments(ctx context.Context, l *env.Lease, c prompts.Context) (all []prompts.Attachment) {
	for i, address := range attachedTo(l.Repo.Name.Host, prompts.Prepare(c)) {
		a := prompts.Attachment{URL: address}
		var err error
		if i >= prompts.MostAttachments {
			err = fmt.Errorf("only the first %d are fetched", prompts.MostAttachments)
		} else {
			a.Path, err = p.fetchAttachment(ctx, l, address, i+1)
		}
		if err != nil {
			a.Why = err.Error()
			p.Log.WarnContext(ctx, "an attachment was not fetched", p.TurnAttrs(l, "url", address, "error", err)...)
		}
		all = append(all, a)
	}
	return all
}

// attachedTo returns the addresses of the attachments of texts whose authors count, as the agent sees them.
func attachedTo(host string, c prompts.Context) (all []string) {
	add := func(role prompts.Role, text string) {
		if role == prompts.RoleWrite {
			all = append(all, github.Attachments(host, text)...)
		}
	}
	for _, e := range c.NewEvents { // the newest matter most
		add(e.Role, e.Body)
	}
	add(c.Task.Issue.Role, c.Task.Issue.Body)
	for _, said := range slices.Backward(c.Task.Issue.Comments) {
		add(said.Role, said.Body)
	}
	var once []string
	for _, address := range all {
		if !slices.Contains(once, address) {
			once = append(once, address)
		}
	}
	return once
}

// fetchAttachment writes an attachment into the checkout, and returns its path there.
func (p *runner) fetchAttachment(ctx context.Context, l *env.Lease, address string, n int) (path string, err error) {
	content, err := l.Repo.GitHub.Attachment(ctx, address, mostAttached)
	if err != nil {
		return "", err
	}
	ext, err := extensionOf(content)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(l.Checkout.Dir) // the set-up ran in there: no link of it is followed to another place
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	path = filepath.Join(attachmentsDir, fmt.Sprintf("%d%s", n, ext))
	if err := root.MkdirAll(attachmentsDir, 0o700); err != nil {
		return "", err
	}
	return path, root.WriteFile(path, content, 0o600)
}

// bringAttachments fetches again what a checkout that was restored lacks, and returns the images for the agent, by
// their paths in the checkout.
func (p *runner) bringAttachments(ctx context.Context, l *env.Lease) (images []string) {
	for i, a := range l.StoredContext().Attachments {
		if a.Path == "" {
			continue
		}
		if !files.Exists(filepath.Join(l.Checkout.Dir, a.Path)) {
			if path, err := p.fetchAttachment(ctx, l, a.URL, i+1); err != nil || path != a.Path {
				continue // the prompt names it, and the agent sees that it is not there
			}
		}
		if filepath.Ext(a.Path) != ".txt" {
			images = append(images, a.Path)
		}
	}
	return images
}

// extensionOf returns the name's end for a content that agents can use.
func extensionOf(content []byte) (string, error) {
	kind := http.DetectContentType(content)
	ext, isImage := map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}[kind]
	if !isImage {
		switch {
		case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
			return "", errors.New("it is neither an image (PNG, JPEG, GIF, WebP) nor a text")
		case len(content) > mostText:
			return "", fmt.Errorf("it is a text of more than %d MB", mostText>>20)
		}
		return ".txt", nil
	}
	width, height, err := sizeOf(content, ext)
	if err != nil {
		return "", fmt.Errorf("it is a broken image: %w", err)
	}
	if int64(width)*int64(height) > mostPixels {
		return "", fmt.Errorf("it is an image of %d × %d pixels", width, height)
	}
	return ext, nil
}

// sizeOf returns the size of an image, without unfolding it.
func sizeOf(content []byte, ext string) (width, height int, err error) {
	if ext != ".webp" {
		c, _, err := image.DecodeConfig(bytes.NewReader(content))
		return c.Width, c.Height, err
	}
	if len(content) < 30 {
		return 0, 0, errors.New("it is cut")
	}
	three := func(at int) int { return int(content[at]) | int(content[at+1])<<8 | int(content[at+2])<<16 }
	switch string(content[12:16]) { // https://developers.google.com/speed/webp/docs/riff_container
	case "VP8X":
		return three(24) + 1, three(27) + 1, nil
	case "VP8L":
		bits := binary.LittleEndian.Uint32(content[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	}
	return int(binary.LittleEndian.Uint16(content[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(content[28:]) & 0x3fff), nil
}
