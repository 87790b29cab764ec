package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

//go:embed data/kinds.json
var kindsJSON []byte

//go:embed data/words.json
var wordsJSON []byte

// kind is one sort of thing the shop sells, with what can be said about it.
type kind struct {
	Kind      string   `json:"kind"`
	Category  int      `json:"category"`
	Names     []string `json:"names"`
	Materials []string `json:"materials"`
	Sizes     []string `json:"sizes"`
	Opens     []string `json:"opens"`
	Details   []string `json:"details"`
}

// assortment is everything the catalogue is made from.
type assortment struct {
	Kinds      []kind              `json:"-"`
	Categories []Category          `json:"categories"`
	Series     []string            `json:"series"`
	Colours    []string            `json:"colours"`
	Materials  map[string][]string `json:"materials"` // sentences about a material
}

func loadAssortment() (assortment, error) {
	var a assortment
	if err := json.Unmarshal(wordsJSON, &a); err != nil {
		return a, fmt.Errorf("data/words.json: %w", err)
	}
	if err := json.Unmarshal(kindsJSON, &a.Kinds); err != nil {
		return a, fmt.Errorf("data/kinds.json: %w", err)
	}
	return a, nil
}

// productCount is the size of the assortment; every service seeds itself for ids 1 to this.
const productCount = 2000

// generate makes the same products every time, on every machine: the seed of the catalogue.
func generate() ([]Product, error) {
	a, err := loadAssortment()
	if err != nil {
		return nil, err
	}
	byCategory := make([][]kind, len(a.Categories))
	for _, k := range a.Kinds {
		byCategory[k.Category] = append(byCategory[k.Category], k)
	}
	products := make([]Product, 0, productCount)
	for id := 1; id <= productCount; id++ {
		category, place := (id-1)%len(a.Categories), (id-1)/len(a.Categories)
		kinds := byCategory[category]
		products = append(products, a.product(id, kinds[order(category, place, len(kinds))], place/len(kinds)))
	}
	return products, nil
}

// order shuffles the kinds anew for every round through them, so that a shelf does not repeat in columns, and never puts the
// same kind side by side.
func order(category, place, kinds int) int {
	round, at := place/kinds, place%kinds
	perm := rand.New(rand.NewPCG(uint64(category), uint64(round))).Perm(kinds)
	if round > 0 {
		if last := order(category, round*kinds-1, kinds); perm[0] == last {
			perm[0], perm[1] = perm[1], perm[0]
		}
	}
	return perm[at]
}

// article finds "a ocean blue tin", which a template cannot know.
var article = regexp.MustCompile(`\b([Aa]) ([aeio])`)

// product makes the nth product of a kind. Series and colour step through their lists from a start of the kind's own with
// strides that share no factor with their lengths: names within a kind cannot repeat, and neighbours differ.
func (a assortment) product(id int, k kind, nth int) Product {
	start := int(k.Kind[0])*7 + int(k.Kind[len(k.Kind)-1])*3 + len(k.Kind)
	// Nine pairs of first sentences, then the same pairs with another material or another sentence about it: no two products of a
	// kind are described alike.
	round, pair := nth/9, nth%9
	materials := len(k.Materials)
	p := Product{
		ID: id, Category: k.Category, Kind: k.Kind,
		Material: k.Materials[(round+pair)%materials],
		Colour:   a.Colours[(start+nth*5)%len(a.Colours)],
		Size:     k.Sizes[rand.New(rand.NewPCG(uint64(id), 2026)).IntN(len(k.Sizes))],
	}
	fill := strings.NewReplacer("{series}", a.Series[(start+nth*25)%len(a.Series)], "{Material}", titleCase(p.Material),
		"{material}", p.Material, "{colour}", p.Colour, "{size}", p.Size)
	p.Name = fill.Replace(k.Names[nth%len(k.Names)])
	sentences := []string{k.Opens[pair%3], k.Details[pair/3]}
	if about := a.Materials[p.Material]; nth%4 != 3 { // two or three sentences
		sentences = append(sentences, about[round/materials%len(about)])
	}
	for i, s := range sentences {
		s = article.ReplaceAllString(fill.Replace(s), "${1}n $2")
		sentences[i] = strings.ToUpper(s[:1]) + s[1:]
	}
	p.Description = strings.Join(sentences, " ")
	return p
}

func titleCase(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
