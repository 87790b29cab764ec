package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHealthcheckAsksTheRoom(t *testing.T) {
	status := http.StatusOK
	room := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/state" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	ask := func() error {
		_, err := demo(t, "healthcheck", "-url", room.URL+"/api/state")
		return err
	}
	if err := ask(); err != nil {
		t.Errorf("well: %v", err)
	}
	if status = http.StatusMisdirectedRequest; ask() == nil {
		t.Error("content with 421")
	}
	room.Close()
	if ask() == nil {
		t.Error("content with nobody")
	}
}
