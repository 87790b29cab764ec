module watertight.example/demo

go 1.26.0
