package idempotency

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/jackc/pgx/v5"
)

// Middleware puts Claim before a handler and Finish behind it. Handlers whose effect lives in the same Postgres add their
// rows with StoreWith; handlers that must react to a failed Finish use the Store itself.
type Middleware struct {
	Store   *Store
	Route   string                                          // "POST /payments/{id}": method and template, constant
	Tenant  func(r *http.Request) (string, error)           // whose key it is, authenticated; a *Refusal is sent as it is
	MaxBody int64                                           // bytes of the request. Default 64 KiB
	Refuse  func(http.ResponseWriter, *http.Request, error) // Default WriteProblem
}

// Wrap returns next behind the key. next sees a context that survives the client for the Budget, its answer is buffered, and
// 5xx, 408, 425 and 429 release the key instead of being stored. GET and HEAD pass untouched, with or without a key.
func (m Middleware) Wrap(next http.Handler) http.Handler {
	if m.MaxBody == 0 {
		m.MaxBody = 64 << 10
	}
	if m.Refuse == nil {
		m.Refuse = WriteProblem
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		answer, err := m.serve(w, r, next)
		if err != nil {
			m.Refuse(w, r, err)
			return
		}
		_ = answer.Write(w) // the client is gone, or it is not: the answer is stored
	})
}

func (m Middleware) serve(w http.ResponseWriter, r *http.Request, next http.Handler) (Answer, error) {
	req, err := m.request(w, r)
	if err != nil {
		return Answer{}, err
	}
	claim, replay, err := m.Store.Claim(r.Context(), req)
	if err != nil {
		return Answer{}, err
	}
	if replay != nil {
		return *replay, nil
	}
	ctx, cancel := Detach(r.Context(), m.Store.cfg.Budget)
	defer cancel()
	x := &exchange{claim: claim}
	release := true
	defer func() { // also when next panics: nothing final happened
		if release {
			_ = m.Store.Release(ctx, claim)
		}
	}()
	rec := &recorder{header: http.Header{}}
	next.ServeHTTP(rec, r.WithContext(context.WithValue(ctx, exchangeKey{}, x)))
	answer := rec.answer()
	if transient(answer.Status) {
		return answer, nil
	}
	err = m.Store.Finish(ctx, claim, answer, x.rows)
	release = err != nil && RolledBack(err)
	return answer, err
}

func (m Middleware) request(w http.ResponseWriter, r *http.Request) (Request, error) {
	key, err := KeyOf(r)
	if err != nil {
		return Request{}, err
	}
	tenant, err := m.Tenant(r)
	if err != nil {
		return Request{}, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, m.MaxBody))
	if err != nil {
		return Request{}, unreadable(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, decoded := canonical(body)
	fingerprint, err := FingerprintOf(r.Method, m.Route, []string{r.URL.EscapedPath(), r.URL.RawQuery, form}, decoded)
	return Request{Scope: Scope(m.Route, tenant), Key: key, Fingerprint: fingerprint, Payload: body}, err
}

// canonical decodes JSON, so that white space and member order do not make another request; other bodies count as they are. The form
// is part of the fingerprint, because raw bytes are hashed as a JSON string, which a body may also be.
func canonical(body []byte) (form string, decoded any) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&decoded) != nil {
		return "raw", body
	}
	if _, err := d.Token(); err != io.EOF { // More would not see a bracket too many, and what follows it
		return "raw", body
	}
	return "json", decoded
}

// transient answers are not final: storing one would make a blip permanent.
func transient(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
}

type (
	exchangeKey struct{}
	exchange    struct {
		claim *Claim
		rows  func(tx *pgx.Batch)
	}
)

// ClaimFrom gives a handler behind the Middleware its claim, for OperationID; nil elsewhere.
func ClaimFrom(ctx context.Context) *Claim {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x.claim
	}
	return nil
}

// StoreWith makes rows part of the transaction that stores the handler's answer (see Finish). It panics outside the
// Middleware: rows that silently go nowhere are worse.
func StoreWith(ctx context.Context, rows func(tx *pgx.Batch)) {
	ctx.Value(exchangeKey{}).(*exchange).rows = rows
}
