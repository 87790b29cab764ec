package service

import "fmt"

// Switch is a knob that is "on" or "off".
type Switch bool

// UnmarshalText reads on or off; anything else is an error.
func (s *Switch) UnmarshalText(text []byte) error {
	switch string(text) {
	case "on":
		*s = true
	case "off":
		*s = false
	default:
		return fmt.Errorf("want on or off")
	}
	return nil
}

// String returns "on" or "off".
func (s Switch) String() string {
	if s {
		return "on"
	}
	return "off"
}
