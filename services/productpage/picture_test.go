package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPictures(t *testing.T) {
	seen := map[[32]byte]int{}
	for _, p := range products(t) {
		svg := picture(p)
		if !bytes.Equal(svg, picture(p)) {
			t.Fatalf("picture %d is not the same twice", p.ID)
		}
		if len(svg) > 8<<10 {
			t.Errorf("picture %d has %d bytes", p.ID, len(svg))
		}
		if err := checkDrawing(svg); err != nil {
			t.Errorf("picture %d (%s): %v", p.ID, p.Kind, err)
		}
		body := svg[bytes.Index(svg, []byte("</title>")):] // less the name, which is unique anyway
		sum := sha256.Sum256(body)
		if other := seen[sum]; other != 0 {
			t.Errorf("pictures %d and %d are the same", other, p.ID)
		}
		seen[sum] = p.ID
	}
}

// checkDrawing makes sure that a picture is XML, that every variable of the drawing was filled, and that there is nothing active or
// remote in it.
func checkDrawing(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	shapes := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if element, ok := token.(xml.StartElement); ok {
			shapes++
			for _, a := range element.Attr {
				if strings.Contains(a.Value, "$") || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					return errors.New(a.Name.Local + "=" + a.Value)
				}
			}
		}
	}
	if shapes < 8 {
		return errors.New("hardly anything is drawn")
	}
	return nil
}

func TestPictureOfAnUnknownKindIsAParcel(t *testing.T) {
	for _, kind := range []string{"spaceship", "../server.go", ""} {
		p := Product{ID: 7, Name: "x", Kind: kind, Colour: "octarine"}
		if err := checkDrawing(picture(p)); err != nil {
			t.Errorf("kind %q: %v", kind, err)
		}
	}
}
