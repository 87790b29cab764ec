package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	files, err := generated("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || string(got) != want {
			t.Errorf("deploy/%s is not what its source says (%v): go generate ./deploy/instruments", name, err)
		}
	}
}
