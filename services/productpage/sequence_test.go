package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"testing"
)

var draw = flag.Bool("draw", false, "write the pictures of the documentation anew")

// The documentation shows the same pictures as the shop: go test -run Sequences -draw .
func TestSequencesOfTheDocumentationAreCurrent(t *testing.T) {
	for _, q := range orderSequences {
		path, want := "../../docs/images/"+q.Name+".svg", q.SVG()
		if *draw {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the shop shows (%v): go test -run Sequences -draw . writes it", path, err)
		}
		for reader := xml.NewDecoder(bytes.NewReader(want)); ; {
			if _, err := reader.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", q.Name, err)
			}
		}
	}
}

// A label that is wider than the space between two lines would cover its neighbours.
func TestSequenceLabelsFit(t *testing.T) {
	for _, q := range orderSequences {
		for _, s := range q.Steps {
			if width := float64(len(s.text)) * 6.2; width > columnWidth-4 {
				t.Errorf("%s: %q is about %.0f wide, there are %d", q.Name, s.text, width, columnWidth)
			}
			if (s.kind == asks || s.kind == answers) == (s.from == s.to) {
				t.Errorf("%s: %q has the wrong ends", q.Name, s.text)
			}
		}
	}
}
