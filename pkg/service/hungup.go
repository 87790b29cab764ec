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
	err = raw.Read(func(fd uintptr) (done bool) {
		_, _, peeked = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return true
	})
	quiet := errors.Is(peeked, syscall.EAGAIN) || errors.Is(peeked, syscall.EINTR)
	return err != nil || !quiet
}
