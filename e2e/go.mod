module watertight.example/e2e

go 1.26.0
