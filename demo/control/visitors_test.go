package control

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections have no buffer: what nobody reads cannot be written.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// watch asks for the events over a connection of its own.
func (p *pipes) watch(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.conns <- server
	if _, err := client.Write([]byte("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	return client
}

func streaming(t *testing.T, do func(r *Room, p *pipes)) {
	synctest.Test(t, func(t *testing.T) {
		r := newWorld().room(t)
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: r.Handler()}
		go server.Serve(p)
		do(r, p)
		close(r.closing)
		synctest.Wait()
		if n := r.visitors.count(); n != 0 {
			t.Errorf("%d visitors are left after closing time", n)
		}
		server.Close()
	})
}

func TestManyVisitorsSeeTheSame(t *testing.T) {
	streaming(t, func(r *Room, p *pipes) {
		const many = 50
		seen := make(chan string, many)
		for range many {
			conn := p.watch(t)
			go func() {
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
						seen <- text
					}
				}
			}()
		}
		synctest.Wait()
		r.visitors.tell([]byte(`{"a":1}`))
		for range many {
			if got := <-seen; got != `{"a":1}` {
				t.Fatalf("a visitor sees %s", got)
			}
		}
	})
}

func TestASlowVisitorIsLetGoAndDelaysNobody(t *testing.T) {
	streaming(t, func(r *Room, p *pipes) {
		_ = p.watch(t) // and never reads
		quick := p.watch(t)
		events := make(chan []byte)
		go func() {
			lines := bufio.NewScanner(quick)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "data: ") {
					events <- bytes.Clone(lines.Bytes())
				}
			}
		}()
		synctest.Wait()
		begin := time.Now()
		r.visitors.tell([]byte("1"))
		<-events
		r.visitors.tell([]byte("2"))
		<-events
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("the quick one waited %s for the slow one", waited)
		}
		time.Sleep(tooSlow + time.Second)
		synctest.Wait()
		if n := r.visitors.count(); n != 1 {
			t.Errorf("%d visitors, want the quick one only", n)
		}
	})
}

func TestTheRoomIsNeverOverfull(t *testing.T) {
	var v visitors
	for range maxVisitors {
		if _, _, err := v.enter(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := v.enter(); err == nil {
		t.Error("one too many was let in")
	}
}

func TestALateVisitorSeesThePresentAtOnce(t *testing.T) {
	var v visitors
	v.tell([]byte("1"))
	v.tell([]byte("2"))
	events, leave, _ := v.enter()
	if got := string(<-events); got != "2" {
		t.Errorf("sees %s", got)
	}
	v.tell([]byte("3"))
	v.tell([]byte("4")) // 3 was not taken: only the latest counts
	if got := string(<-events); got != "4" {
		t.Errorf("sees %s", got)
	}
	leave()
	if v.count() != 0 {
		t.Error("has not left")
	}
}
