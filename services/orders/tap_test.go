package main

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// tap stands between an instance and a store. It passes everything on until it is told to lose answers (what the store is asked is
// passed on, what it answers is swallowed) or to be shut (connections are cut, and new ones at once).
type tap struct {
	upstream string
	listener net.Listener

	mu     sync.Mutex
	losing func() bool // asked before each answer; nil: never
	shut   bool
	open   map[net.Conn]bool
}

// tapped puts a tap before the store of a URL and returns the URL that goes through it.
func tapped(t *testing.T, store string) (*tap, string) {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tp := &tap{upstream: u.Host, listener: l, open: map[net.Conn]bool{}}
	go tp.accept()
	t.Cleanup(func() { l.Close(); tp.cut(true) })
	u.Host = l.Addr().String()
	return tp, u.String()
}

func (tp *tap) accept() {
	for {
		client, err := tp.listener.Accept()
		if err != nil {
			return
		}
		store, err := net.Dial("tcp", tp.upstream)
		if err != nil || !tp.keep(client, store) {
			client.Close()
			continue
		}
		go func() { _, _ = io.Copy(store, client); store.Close() }()
		go func() { _, _ = io.Copy(answers{tp, client}, store); client.Close() }()
	}
}

func (tp *tap) keep(conns ...net.Conn) bool {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for _, c := range conns {
		if tp.shut {
			c.Close()
		} else {
			tp.open[c] = true
		}
	}
	return !tp.shut
}

// cut ends all connections; new ones are accepted and cut at once when it is shut, and passed on otherwise.
func (tp *tap) cut(shut bool) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for c := range tp.open {
		c.Close()
	}
	clear(tp.open)
	tp.losing, tp.shut = nil, shut
}

// lose swallows answers from the first one on for which losing is true; then it has to stay true, until cut.
func (tp *tap) lose(losing func() bool) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.losing = losing
}

// answers are what the store says to a client.
type answers struct {
	tp     *tap
	client net.Conn
}

func (a answers) Write(p []byte) (int, error) {
	a.tp.mu.Lock()
	losing := a.tp.losing
	a.tp.mu.Unlock()
	if losing != nil && losing() {
		return len(p), nil
	}
	return a.client.Write(p)
}
