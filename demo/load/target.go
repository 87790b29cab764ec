package load

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
)

// bareName is a host name without dots that starts with a letter, as compose services have. The letter matters:
// the C resolver reads "3232235777" and "0xc0a80101" as IPv4 addresses, dots or not.
var bareName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// parseTarget checks the base URL of the shop under load. A load generator pointed at somebody else's machine is an
// attack, and one wrong character in a flag must not be enough for that: unless ownHost says otherwise, only this
// machine (loopback) and names without dots (compose services, which public DNS cannot hold) are accepted.
func parseTarget(raw string, ownHost bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("target %q is not a base URL like http://127.0.0.1:18080", raw)
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.Path != "" && u.Path != "/":
		return nil, fmt.Errorf("target %q must be scheme, host and port only", raw)
	case !ownHost && !isOurs(u.Hostname()):
		return nil, fmt.Errorf("target %q is neither this machine nor a compose service: load on a stranger's host is an attack; "+
			"if it is your own, say so with -i-own-this-host", u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func isOurs(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return bareName.MatchString(host)
}
