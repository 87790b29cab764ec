package main

// productView is what the product page's template needs.
type productView struct {
	page
	Category Category
	Sold     bool // live and sold out: no button
	Few      bool
	Parts    []partView
}

// partView is a line of "how this page was made".
type partView struct {
	part
	Source string
}

func (s *shop) productView(p page) productView {
	c := s.contract
	return productView{
		page: p, Category: s.catalogue.categories[p.Product.Category],
		Sold: p.Stock != nil && p.Stock.Available == 0 && !p.Stock.Snapshot,
		Few:  p.Stock != nil && p.Stock.Available > 0 && p.Stock.Available <= 5,
		Parts: []partView{
			{c.catalogue, "memory"},
			{c.price, p.Sources.price.words("last known")},
			{c.stock, p.Sources.stock.words("snapshot")},
			{c.recommendations, p.Sources.recommendations.words("last good list")},
		},
	}
}

// words is the source for people; what an older answer is called differs by part.
func (s source) words(older string) string {
	switch s {
	case stale:
		return older
	case standIn:
		return "best sellers"
	case missing:
		return "left out"
	}
	return "live"
}

// BestSellers tells the template that the list is not about this product.
func (v productView) BestSellers() bool { return v.Sources.recommendations == standIn }

// Orderable tells whether there is a price to agree to and anything to send.
func (v productView) Orderable() bool { return v.Price != nil && !v.Sold }

// Degraded tells the template that a note is due, part by part.
func (v productView) Degraded() bool { return len(v.Sources.degraded()) > 0 }

// PriceMissing, StockMissing and ListMissing are notes of their own.
func (v productView) PriceMissing() bool { return v.Sources.price == missing }
func (v productView) StockMissing() bool { return v.Sources.stock == missing }
func (v productView) ListMissing() bool  { return v.Sources.recommendations == missing }

// ListStale tells that the list is of this product but not of this moment.
func (v productView) ListStale() bool { return v.Sources.recommendations == stale }

// pageJSON is the page for programs.
type pageJSON struct {
	Product         productJSON          `json:"product"`
	Price           *Price               `json:"price"`
	Stock           *Stock               `json:"stock"`
	Recommendations []recommendationJSON `json:"recommendations"`
	Degraded        []string             `json:"degraded"`
}

type productJSON struct {
	Product
	CategoryName string `json:"category_name"`
	Picture      string `json:"picture"`
}

type recommendationJSON struct {
	ProductID int    `json:"product_id"`
	Name      string `json:"name"`
	Price     *Price `json:"price"`
}

func (p page) json(s *shop) pageJSON {
	out := pageJSON{
		Product:         productJSON{p.Product, s.catalogue.categories[p.Product.Category].Name, pictureURL(p.Product)},
		Price:           p.Price,
		Stock:           p.Stock,
		Recommendations: []recommendationJSON{},
		Degraded:        []string{},
	}
	for _, r := range p.Recommendations {
		out.Recommendations = append(out.Recommendations, recommendationJSON{r.Product.ID, r.Product.Name, r.Price})
	}
	for _, f := range p.Sources.degraded() {
		out.Degraded = append(out.Degraded, f.part)
	}
	return out
}
