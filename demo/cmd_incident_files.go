package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"watertight.example/demo/incident"
)

// writable says now, and not after the minutes that an incident takes, that a report could not be written.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".incident-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// save writes the report's two files and gives the path of the one for people.
func save(report incident.Report, dir string) (string, error) {
	var page, figures bytes.Buffer
	if err := errors.Join(report.WriteHTML(&page), report.WriteJSON(&figures)); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "incident-"+report.Incident)
	if report.Without != "" {
		path += "-without-" + report.Without
	}
	return path + ".html", errors.Join(
		os.WriteFile(path+".html", page.Bytes(), 0o644),
		os.WriteFile(path+".json", figures.Bytes(), 0o644))
}

// compare sets all reports of a story that are in dir side by side.
func compare(w io.Writer, dir, name string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "incident-"+name+"-without-*.json"))
	if err != nil {
		return err
	}
	if whole := filepath.Join(dir, "incident-"+name+".json"); exists(whole) {
		paths = append(paths, whole)
	}
	var files [][]byte
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	side, err := incident.Compare(files...)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := side.WriteHTML(&page); err != nil {
		return err
	}
	path := filepath.Join(dir, "incident-"+name+"-compared.html")
	fmt.Fprintf(w, "side by side with %d other runs: %s\n", len(paths)-1, path)
	if caveat := side.Caveat(); caveat != "" {
		fmt.Fprintln(w, caveat)
	}
	return os.WriteFile(path, page.Bytes(), 0o644)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
