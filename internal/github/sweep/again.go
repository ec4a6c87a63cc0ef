package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Most light queries bring what they brought before, to the byte, and to decode it takes much
// longer than to compare it. An answer that was decoded has a seal: over its bytes, and over the
// fingerprints that they came to. It says nothing of what was taken in, so that no order of
// events can make it wrong: where the pull requests have these fingerprints, and the same bytes
// come, they would come to the same again.

// seal is that of an answer and what it came to.
func seal(body []byte, pulls []PullLight) string {
	h := sha256.New()
	fmt.Fprintln(h, len(body)) // so that no text of the one is taken for the other
	h.Write(body)
	var prints []byte
	for _, p := range pulls {
		prints = append(strconv.AppendQuote(prints, p.Fingerprint), '\n')
	}
	h.Write(prints)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// same gives what an answer comes to without decoding it, where it came to just these pull
// requests when it was sealed.
func same(body []byte, pulls []PullLight, sealed string) (Sweep, bool) {
	if sealed == "" || seal(body, pulls) != sealed {
		return Sweep{}, false
	}
	head, ok := headOf(body)
	if !ok {
		return Sweep{}, false
	}
	s := head.sweep()
	s.Seal, s.Pulls = sealed, pulls
	return s, true
}

// headOf reads what stands before the pull requests: who asked, and of which repository.
func headOf(body []byte) (w wireSweep, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	for _, want := range []json.Token{json.Delim('{'), "data", json.Delim('{')} {
		if t, err := d.Token(); err != nil || t != want {
			return w, false
		}
	}
	for {
		var err error
		switch t, _ := d.Token(); t {
		case "viewer":
			err = d.Decode(&w.Viewer)
		case "repository":
			err = d.Decode(&w.Repository)
		default:
			return w, w.Viewer.ID != 0 && w.Repository.ID != ""
		}
		if err != nil {
			return w, false
		}
	}
}

// SweepAgain is Sweep of pull requests that were asked about before: what is stored of them,
// and the seal of the answer that it came from, if there is one. After the same answer a pull
// request is given as it is stored.
func (c Sweeps) SweepAgain(ctx context.Context, repo work.RepoName, stored []PullLight, sealed string) (Sweep, error) {
	s, err := c.sweep(ctx, repo, stored, sealed)
	if err != nil {
		return Sweep{}, fmt.Errorf("sweep %d pull requests: %w", len(stored), err)
	}
	return s, nil
}
