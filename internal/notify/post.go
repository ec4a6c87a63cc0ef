package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Headers of the request.
const (
	headerEvent     = "X-Mergexo-Event"
	headerDelivery  = "X-Mergexo-Delivery"
	headerTimestamp = "X-Mergexo-Timestamp"
	headerSignature = "X-Mergexo-Signature-256"
)

// sign returns the signature of a body at a time. The time is signed, too, so that a recorded
// message cannot be replayed later as a new one.
func sign(secret, timestamp, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// post sends the message to a URL. It follows no redirect: only the URL in the config may get the
// message.
func post(ctx context.Context, t Target, m Message) Answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, strings.NewReader(m.Body))
	if err != nil {
		return unreached("its address is none")
	}
	timestamp := strconv.FormatInt(m.At.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "gh-mergexo")
	req.Header.Set(headerEvent, m.Event)
	req.Header.Set(headerDelivery, m.ID)
	req.Header.Set(headerTimestamp, timestamp)
	if t.Secret != "" {
		req.Header.Set(headerSignature, sign(t.Secret, timestamp, m.Body))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return noAnswer(t, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(res.Body, mostSaid)) // as much as arrived
	switch res.StatusCode / 100 {
	case 2:
		return Answer{Taken, said(res.Status, body)}
	case 3:
		return Answer{Refused, res.Status + ": a redirect is not followed; write the address to which it leads into the config"}
	}
	return Answer{Refused, said(res.Status, body)}
}

// noAnswer distinguishes a target to which no connection was made from one that may have received
// the message. It omits the URL: that of a webhook often contains its password.
func noAnswer(t Target, err error) Answer {
	why, fate := err, Refused
	if u, ok := errors.AsType[*url.Error](err); ok {
		why = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "dial" || op.Op == "proxyconnect") {
		fate = Unreached
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Answer{fate, fmt.Sprintf("no answer within %s", t.Timeout)}
	}
	return Answer{fate, why.Error()}
}
