// A receiver of outbound webhooks for Go 1.19 or newer, with nothing but its standard library.
//
//	WEBHOOK_SECRET=whsec_… PORT=3000 INBOX=inbox go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance   = 5 * time.Minute
	longestBody = 1 << 20
)

var (
	secret       = os.Getenv("WEBHOOK_SECRET")
	inbox        = withDefault(os.Getenv("INBOX"), "inbox")
	isID         = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	isTime       = regexp.MustCompile(`^[0-9]{1,12}$`)
	oneAtATime   sync.Mutex
	errDuplicate = errors.New("it is there already")
)

type event struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	DeliveryID string `json:"deliveryId"`
	Delivery   *struct {
		Status   string `json:"status"`
		Sequence int64  `json:"sequence"`
	} `json:"delivery"`
}

func withDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func mac(key []byte, message ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range message {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

// `body`: the bytes as they came. Both signatures must stand up; while a secret is rotated the old one still does.
func verified(header http.Header, body []byte) bool {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	if !isID.MatchString(id) || !isTime.MatchString(stamp) {
		return false
	}
	seconds, _ := strconv.ParseInt(stamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	standard := "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id+"."+stamp+"."), body))
	vendor := "sha256=" + hex.EncodeToString(mac([]byte(secret), body))
	signed := false
	for _, sent := range strings.Split(header.Get("webhook-signature"), " ") {
		signed = hmac.Equal([]byte(sent), []byte(standard)) || signed
	}
	return signed && (hmac.Equal([]byte(header.Get("X-Vendor-Signature")), []byte(vendor)) ||
		hmac.Equal([]byte(header.Get("X-Vendor-Signature-Previous")), []byte(vendor)) ||
		hmac.Equal([]byte(header.Get("X-Vendor-Signature-Older")), []byte(vendor)))
}

// Keeps the event under its id; errDuplicate: it is there already. A database does it with a unique key.
func keep(id string, body []byte) error {
	draft, err := os.CreateTemp(inbox, "*.draft")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	if _, err = draft.Write(body); err != nil {
		draft.Close()
		return err
	}
	if err = draft.Close(); err != nil {
		return err
	}
	err = os.Link(draft.Name(), filepath.Join(inbox, id+".json"))
	if errors.Is(err, fs.ErrExist) {
		return errDuplicate
	}
	return err
}

// Events of a delivery may overtake each other: an older one than the newest known changes nothing.
func isNews(e event) (bool, error) {
	if e.DeliveryID == "" || e.Delivery == nil {
		return true, nil // of something else: look at its type
	}
	file := filepath.Join(inbox, e.DeliveryID+".sequence")
	var known int64
	if text, err := os.ReadFile(file); err == nil {
		known, _ = strconv.ParseInt(string(text), 10, 64)
	}
	if e.Delivery.Sequence <= known {
		return false, nil
	}
	if err := os.WriteFile(file+".draft", []byte(strconv.FormatInt(e.Delivery.Sequence, 10)), 0o600); err != nil {
		return false, err
	}
	return true, os.Rename(file+".draft", file)
}

// Handles the event after the answer was sent. Ignore types that you do not know.
func work(body []byte) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		log.Print(err)
		return
	}
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	news, err := isNews(e)
	if err != nil {
		log.Print(err)
		return
	}
	status := "-"
	if e.Delivery != nil {
		status = e.Delivery.Status
	}
	if news {
		fmt.Println(e.Type, withDefault(e.DeliveryID, "-"), status)
	} else {
		fmt.Println("old", e.ID)
	}
}

func receive(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !verified(r.Header, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := r.Header.Get("webhook-id")
	switch err := keep(id, body); {
	case err == nil:
		go work(body) // it is kept: what follows may take its time, in any order
	case errors.Is(err, errDuplicate):
		fmt.Println("duplicate", id)
	default:
		log.Print(err)
		w.WriteHeader(http.StatusInternalServerError) // the service sends it again
	}
}

func main() {
	if err := os.MkdirAll(inbox, 0o700); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+withDefault(os.Getenv("PORT"), "3000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: http.HandlerFunc(receive), ReadTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
