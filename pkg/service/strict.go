package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// maxDepth of nesting: ours is 3, and a body of open brackets must not become a deep recursion.
const maxDepth = 16

var errNotJSON = errors.New("body: not valid JSON")

// strictDecoder walks the tokens of a body beside the Go type they go into and finds what encoding/json lets pass: repeated
// names (it takes the last), names in another case, null (it leaves the field as it was), a second value, broken UTF-8.
type strictDecoder struct{ *json.Decoder }

// checkStrict explains the first thing in body that does not belong into v. Wrong types are json.Unmarshal's to find.
func checkStrict(body []byte, v any) error {
	if !utf8.Valid(body) {
		return errors.New("body: not UTF-8")
	}
	d := strictDecoder{json.NewDecoder(bytes.NewReader(body))}
	if err := d.value(reflect.TypeOf(v), "", 0); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("body: something after the JSON value")
	}
	return nil
}

func (d strictDecoder) value(t reflect.Type, path string, depth int) error {
	token, err := d.Token()
	if err != nil {
		return errNotJSON
	}
	if depth > maxDepth {
		return errors.New("body: nested too deeply")
	}
	switch token {
	case nil:
		return fmt.Errorf("%s: null is not a value here", orBody(path))
	case json.Delim('{'):
		return d.object(t, path, depth)
	case json.Delim('['):
		return d.array(t, path, depth)
	}
	return nil
}

func (d strictDecoder) object(t reflect.Type, path string, depth int) error {
	fields, closed := fieldsOf(t)
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return errNotJSON
		}
		name := token.(string) // the decoder has checked that
		field, known := fields[name]
		switch {
		case closed && !known:
			return fmt.Errorf("%s: unknown field %q", orBody(path), name)
		case seen[name]:
			return fmt.Errorf("%s: field %q is there twice", orBody(path), name)
		}
		seen[name] = true
		if err := d.value(field, strings.TrimPrefix(path+"."+name, "."), depth+1); err != nil {
			return err
		}
	}
	return d.end()
}

func (d strictDecoder) array(t reflect.Type, path string, depth int) error {
	element := elementOf(t)
	for i := 0; d.More(); i++ {
		if err := d.value(element, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
			return err
		}
	}
	return d.end()
}

func (d strictDecoder) end() error {
	if _, err := d.Token(); err != nil {
		return errNotJSON
	}
	return nil
}

func orBody(path string) string {
	if path == "" {
		return "body"
	}
	return path
}

// fieldsOf maps a struct's exact JSON names to their types. closed is false for what takes any name: maps, interfaces, types
// that decode themselves.
func fieldsOf(t reflect.Type) (fields map[string]reflect.Type, closed bool) {
	t = deref(t)
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil, false
	}
	fields = map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || (f.Anonymous && name == "") {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields[name] = f.Type
	}
	return fields, true
}

func elementOf(t reflect.Type) reflect.Type {
	if t = deref(t); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		return t.Elem()
	}
	return nil
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
