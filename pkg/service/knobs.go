package service

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// knob is one field of a Config that the environment can set.
type knob struct {
	key, unit, help string
	value           reflect.Value
}

// knobsOf lists the fields with an env tag, nested structs included, in order of declaration.
func knobsOf(cfg any) []knob {
	return collectKnobs(nil, reflect.ValueOf(cfg).Elem(), "")
}

func collectKnobs(found []knob, v reflect.Value, prefix string) []knob {
	for field, value := range v.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("env"), ",")
		switch {
		case key != "":
			unit := cmp.Or(field.Tag.Get("unit"), unitOf(field.Type))
			found = append(found, knob{prefix + key, unit, field.Tag.Get("help"), value})
		case field.Type.Kind() == reflect.Struct:
			found = collectKnobs(found, value, prefix+field.Tag.Get("envPrefix"))
		}
	}
	return found
}

func unitOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case t == reflect.TypeFor[Secret]():
		return "secret"
	case t == reflect.TypeFor[Switch]():
		return "on, off"
	case t.Kind() == reflect.Bool:
		return "true, false"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "number"
}

// Load fills cfg from the environment and reports everything that is wrong at once. An empty variable counts as unset, as
// compose files pass them.
func Load(cfg Configurable, getenv func(string) string) error {
	set, problems := map[string]string{}, []error(nil)
	for _, k := range knobsOf(cfg) {
		text := getenv(k.key)
		if text == "" {
			continue
		}
		if err := k.try(cfg, text); err != nil {
			problems = append(problems, err)
			continue
		}
		set[k.key] = text
	}
	problems = append(problems, parse(cfg, set), cfg.Common().validate(), cfg.Validate())
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	return nil
}

// try parses one knob alone, because the library reports a bad value under the name of the Go field.
func (k knob) try(cfg Configurable, text string) error {
	var bad env.ParseError
	if err := parse(copyOf(cfg), map[string]string{k.key: text}); errors.As(err, &bad) {
		reason := strings.ReplaceAll(bad.Err.Error(), text, shown(text)) // it quotes the value
		return fmt.Errorf("%s: cannot use %q (%s): %s", k.key, shown(text), k.unit, reason)
	}
	return nil
}

// parse sets what environment names; the rest keeps a value given in code, else its default.
func parse(cfg any, environment map[string]string) error {
	for _, k := range knobsOf(cfg) {
		if _, set := environment[k.key]; set {
			k.value.SetZero() // or the library's option below would let a value given in code win over the environment, too
		}
	}
	return env.ParseWithOptions(cfg, env.Options{Environment: environment, SetDefaultsForZeroValuesOnly: true})
}

// copyOf makes a shallow copy of a Config to try things on.
func copyOf(cfg Configurable) Configurable {
	c := reflect.New(reflect.TypeOf(cfg).Elem())
	c.Elem().Set(reflect.ValueOf(cfg).Elem())
	return c.Interface().(Configurable)
}

// String shows the value as it may appear in a log: secrets masked, and passwords in anything that is a URL.
func (k knob) String() string { return shown(fmt.Sprint(k.value.Interface())) }

func shown(text string) string {
	if masked, ok := maskURL(text); ok {
		return masked
	}
	return text
}

// logConfig writes the whole configuration as one line.
func logConfig(log *slog.Logger, cfg Configurable) {
	var attrs []any
	for _, k := range knobsOf(cfg) {
		attrs = append(attrs, slog.String(k.key, k.String()))
	}
	log.Info("configuration", slog.Group("config", attrs...))
}
