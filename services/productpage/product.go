package main

// Product is one article of the shop. ID is also its SKU in every other service.
type Product struct {
	ID          int    `json:"id"`
	Category    int    `json:"category"`
	Kind        string `json:"kind"` // names its drawing
	Name        string `json:"name"`
	Description string `json:"description"`
	Material    string `json:"material"`
	Colour      string `json:"colour"`
	Size        string `json:"size"`
}

// Category is a department of the shop.
type Category struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
	Line string `json:"line"` // a few words for its page
}

// colour is the colour p is drawn in: the one its attribute names, blue when somebody invented a new name.
func (p Product) colour() colour {
	byName := map[string]colour{
		"ocean blue": {0x2f, 0x66, 0x90}, "mustard": {0xd9, 0xa0, 0x33}, "moss green": {0x6a, 0x7f, 0x4f}, "terracotta": {0xc8, 0x62, 0x3f},
		"fog grey": {0x94, 0xa1, 0xaa}, "brick red": {0xa8, 0x42, 0x3a}, "cream": {0xf0, 0xe4, 0xcc}, "teal": {0x2a, 0x81, 0x80},
		"plum": {0x74, 0x48, 0x6a}, "sand": {0xd5, 0xbd, 0x96}, "sky blue": {0x7f, 0xb2, 0xd0}, "charcoal": {0x45, 0x4c, 0x55},
		"coral": {0xe8, 0x7d, 0x66}, "forest green": {0x2f, 0x61, 0x48}, "blush": {0xe0, 0xa7, 0x9c}, "indigo": {0x40, 0x50, 0x8f},
	}
	if c, ok := byName[p.Colour]; ok {
		return c
	}
	return byName["ocean blue"]
}
