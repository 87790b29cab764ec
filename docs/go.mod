module watertight.example/docs

go 1.26
