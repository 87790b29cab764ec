package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	deploy := flag.String("deploy", "..", "the `folder` that has prometheus/ and grafana/")
	scenarios := flag.String("scenarios", "", "write the promtool tests into this `folder`, and nothing else")
	flag.Parse()
	if err := run(*deploy, *scenarios); err != nil {
		fmt.Fprintln(os.Stderr, "instruments:", err)
		os.Exit(1)
	}
}

func run(deploy, scenarios string) error {
	if scenarios != "" {
		return writeAll(scenarios, scenarioTests())
	}
	files, err := generated(deploy)
	if err != nil {
		return err
	}
	return writeAll(deploy, files)
}

func writeAll(folder string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
