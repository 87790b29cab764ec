package service

import (
	"fmt"
	"net/url"
	"slices"
)

// Check is one line of a [Configurable]'s Validate: nil when ok, else the error that names the knob and what is wrong with it.
func Check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// CheckURL is a Check that the knob holds an absolute URL of one of the schemes. The value may hold a password, so the error
// does not repeat it.
func CheckURL(key, value string, schemes ...string) error {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s: not a URL with a host", key)
	}
	return Check(slices.Contains(schemes, u.Scheme), "%s: scheme %q, want one of %q", key, u.Scheme, schemes)
}
