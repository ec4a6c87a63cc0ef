package turn

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Images, texts and logs that somebody who counts attached to a text of the prompt are files of the checkout, beside
// its tree: nothing there is committed. What they are is judged by their content alone.

// Bounds of attachments.
const (
	mostAttached   = 5 << 20          // bytes of one
	mostText       = 1 << 20          // bytes of a text
	mostPixels     = 40 << 20         // a small file may unfold to any size
	attachedAtOnce = 4                // reads at a time
	attachedWithin = time.Minute      // for all of a prompt
	attachedTried  = 10 * time.Minute // since the turn began; then the agent works without
)

// attachmentsDir is their folder in a checkout.
var attachmentsDir = filepath.Join(".git", "attachments")

// attachments fetches the files of a prompt's texts into the checkout, and says of those that cannot be had why. That
// GitHub does not give one now is an error, as of any other read, until the turn has waited for long enough.
func (p *runner) attachments(ctx context.Context, l *env.Lease, c prompts.Context) ([]prompts.Attachment, error) {
	all := attachedTo(l.Repo, prompts.Prepare(c), l.Turn.Kind)
	for i := prompts.MostAttachments; i < len(all); i++ {
		all[i].Why = cmp.Or(all[i].Why, fmt.Sprintf("only the first %d are fetched", prompts.MostAttachments))
	}
	err := p.fetchAttachments(ctx, l, all)
	if err != nil && p.Now().Sub(l.Turn.ClaimedAt) > attachedTried {
		p.Log.WarnContext(ctx, "attachments were not fetched", p.TurnAttrs(l, "error", err)...)
		for i := range all {
			if all[i].Path == "" && all[i].Why == "" {
				all[i].Why = fmt.Sprintf("GitHub has not given it for %s", attachedTried)
			}
		}
		err = nil
	}
	return all, err
}

// PreviewAttachments names what would be fetched for a prompt, without asking GitHub.
func PreviewAttachments(l *env.Lease, c prompts.Context) []prompts.Attachment {
	all := attachedTo(l.Repo, prompts.Prepare(c), l.Turn.Kind)
	for i := range all {
		if all[i].Why == "" {
			all[i].Path = filepath.Join(attachmentsDir, nameOf(all[i].URL)+".*")
		}
	}
	return all
}

// attachedTo returns the attachments of the texts that the agent sees. Those whose authors do not count, and those of
// another repository, which our account may read and their author may not, are named and not fetched. Of an earlier
// turn's texts, the session or the work knows.
func attachedTo(r *env.Repo, c prompts.Context, kind work.Kind) (all []prompts.Attachment) {
	elsewhere := func(repo string) bool {
		return repo != "" && !strings.EqualFold(repo, r.Name.FullName()) && !strings.EqualFold(repo, r.Row.Current.FullName())
	}
	add := func(role prompts.Role, text string) {
		for _, found := range github.Attachments(r.Name.Host, text) {
			a := prompts.Attachment{URL: found.URL}
			switch {
			case role != prompts.RoleWrite:
				a.Why = "its author may not write to the repository"
			case elsewhere(found.Repo):
				a.Why = "it belongs to another repository, " + found.Repo
			}
			if !slices.ContainsFunc(all, func(o prompts.Attachment) bool { return o.URL == a.URL }) {
				all = append(all, a)
			}
		}
	}
	for _, e := range c.NewEvents { // the newest matter most
		add(e.Role, e.Body)
	}
	if kind.Start() || kind == work.KindReview {
		add(c.Task.Issue.Role, c.Task.Issue.Body)
		for _, said := range slices.Backward(c.Task.Issue.Comments) {
			add(said.Role, said.Body)
		}
	}
	return all
}

// fetchAttachments fetches those that have no reason against it, writes them into the checkout, and keeps the images
// for the agent. What lies there already is removed: the repository's set-up ran in the checkout.
func (p *runner) fetchAttachments(ctx context.Context, l *env.Lease, all []prompts.Attachment) (err error) {
	l.Images = nil
	if !slices.ContainsFunc(all, func(a prompts.Attachment) bool { return a.Why == "" }) {
		return nil
	}
	root, err := os.OpenRoot(l.Checkout.Dir) // no link is followed to another place
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := errors.Join(root.RemoveAll(attachmentsDir), root.MkdirAll(attachmentsDir, 0o700)); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, attachedWithin)
	defer cancel()
	images := make([]agent.Image, len(all))
	var reads []func(context.Context) error
	for i := range all {
		if a := &all[i]; a.Why == "" {
			reads = append(reads, func(ctx context.Context) error {
				content, err := l.Repo.GitHub.Attachment(ctx, a.URL, mostAttached)
				if gone, is := errors.AsType[*transport.NotStoredError](err); is {
					a.Why = gone.Why
					return nil
				}
				if err != nil {
					return err
				}
				ext, err := extensionOf(content)
				if err != nil {
					a.Why = err.Error()
					return nil //nolint:nilerr // the agent is told
				}
				path := filepath.Join(attachmentsDir, nameOf(a.URL)+ext)
				if err := root.WriteFile(path, content, 0o600); err != nil {
					return err
				}
				a.Path = path
				if ext != textExt {
					images[i] = agent.Image{Path: path, Content: content}
				}
				return nil
			})
		}
	}
	err = errors.Join(github.AtOnce(within, attachedAtOnce, reads)...)
	l.Images = slices.DeleteFunc(images, func(i agent.Image) bool { return i.Path == "" })
	return err
}

// nameOf is the name of an attachment in the checkout, the same in each turn.
func nameOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:4])
}

// bringAttachments fetches those of a stored prompt again: the checkout was restored. The prompt names what cannot be
// had any more, and the agent sees that it is not there.
func (p *runner) bringAttachments(ctx context.Context, l *env.Lease) {
	stored := slices.Clone(l.StoredContext().Attachments)
	if err := p.fetchAttachments(ctx, l, stored); err != nil {
		p.Log.WarnContext(ctx, "attachments were not fetched again", p.TurnAttrs(l, "error", err)...)
	}
}

// textExt ends the names of texts.
const textExt = ".txt"

// extensionOf returns the name's end for a content that agents can use.
func extensionOf(content []byte) (string, error) {
	kind := http.DetectContentType(content)
	ext, isImage := map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}[kind]
	if !isImage {
		switch {
		case strings.HasPrefix(kind, "text/html"): // a page to log in, among others
			return "", errors.New("it is a page")
		case !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0:
			return "", errors.New("it is neither an image (PNG, JPEG, GIF, WebP) nor a text")
		case len(content) > mostText:
			return "", fmt.Errorf("it is a text of more than %d MB", mostText>>20)
		}
		return textExt, nil
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
