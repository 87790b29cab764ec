//go:build unix

package service

import (
	"errors"
	"net"
	"syscall"
)

// hungUp looks, without waiting and without a round trip, whether the other side has closed an idle connection: then there is
// something to read, its last words or the end. Otherwise the next query finds out, and fails for it. (The MySQL driver for Go
// does the same.) A connection whose descriptor is hidden, by TLS for example, passes.
//
// By Control and not by Read, which waits for its turn: after a write that took longer than 15 ms pgx has a goroutine that reads, and
// goes on reading while the connection is idle. The descriptor is non-blocking, so the look itself never waits.
func hungUp(conn net.Conn) bool {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	var peeked error
	err = raw.Control(func(fd uintptr) {
		_, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	})
	quiet := errors.Is(peeked, syscall.EAGAIN) || errors.Is(peeked, syscall.EINTR)
	return err != nil || !quiet
}
