package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// DecodeJSON reads the request's body into v, a pointer, and is strict, because a field that is silently ignored is an order
// for the wrong quantity: one JSON value, exact names, no unknown or repeated ones, no null, nothing after it. Errors are *Problem:
// 415 unsupported-media-type, 413 body-too-large, 400 malformed-json with the place of the mistake.
func DecodeJSON(r *http.Request, v any) error {
	if !isJSON(r.Header.Get("Content-Type")) {
		return NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type", "The body must be sent as application/json.")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return bodyTooLarge(tooBig.Limit)
		}
		return malformed("body: could not be read").Wrap(err)
	}
	if err := checkStrict(body, v); err != nil {
		return malformed(err.Error()).Wrap(err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return malformed(explain(err)).Wrap(err)
	}
	return nil
}

// WriteJSON answers with v. It encodes before the first byte is sent, so that an error can still become a 500; such an error
// is returned, one of the connection is not.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client is gone: nobody to tell
	return nil
}

func isJSON(contentType string) bool {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	charset, has := params["charset"]
	return (mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")) && (!has || strings.EqualFold(charset, "utf-8"))
}

func malformed(detail string) *Problem {
	return NewProblem(http.StatusBadRequest, "malformed-json", detail)
}

func bodyTooLarge(limit int64) *Problem {
	return NewProblem(http.StatusRequestEntityTooLarge, "body-too-large", fmt.Sprintf("The body must not be larger than %d bytes.", limit))
}

// explain says what is wrong in terms of the body, not of Go.
func explain(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return fmt.Sprintf("%s: %s does not fit here", orBody(wrongType.Field), wrongType.Value)
	}
	return "body: not the JSON expected here"
}
