package main

import (
	"os"
	"path/filepath"
)

const (
	productionRules = "prometheus/alerts/watertight.yml"
	demoRules       = "prometheus/alerts/demo.yml"
)

// generated returns every generated file below deploy/ by its path there.
func generated(deploy string) (map[string]string, error) {
	rules, err := os.ReadFile(filepath.Join(deploy, productionRules))
	if err != nil {
		return nil, err
	}
	fast, err := atDemoPace(string(rules))
	if err != nil {
		return nil, err
	}
	files, err := dashboardFiles()
	if err != nil {
		return nil, err
	}
	files[demoRules] = fast
	return files, nil
}
