package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// ready is what --ready-file gets once everything is up.
type ready struct {
	ShopURL       string `json:"shop_url"`
	AdminURL      string `json:"admin_url"`
	AdminLoginURL string `json:"admin_login_url"`
	APIURL        string `json:"api_url"`
	APIKey        string `json:"api_key"`
	StripeURL     string `json:"stripe_url"`
	InboxURL      string `json:"inbox_url"`
	DatabaseURL   string `json:"database_url"`
}

func (d *demo) ready() ready {
	shop := "http://" + d.ports.web.addr
	return ready{ShopURL: shop, AdminURL: shop + "/admin", AdminLoginURL: shop + "/admin/sign-in?token=" + d.keys.SignIn,
		APIURL: shop + "/api/v1", APIKey: d.keys.API, StripeURL: "http://" + d.ports.stripe.addr, InboxURL: "http://" + d.ports.inbox.addr,
		DatabaseURL: d.databaseURL}
}

// write puts the file in place whole, so that whoever waits for it never reads half.
func (r ready) write(path string) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the ready file: %w", err)
	}
	// It holds credentials, so nobody else may read it.
	if err := os.WriteFile(path+".part", append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the ready file: %w", err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("writing the ready file: %w", err)
	}
	return nil
}

func (r ready) print(out io.Writer, kept string) {
	fmt.Fprintf(out, `
  Shop        %s
  Dashboard   %s
              (the link signs you in, once)
  Stripe      %s
  Inbox       %s

  Everything is kept in %s. Ctrl-C stops it.

`, r.ShopURL, r.AdminLoginURL, r.StripeURL, r.InboxURL, kept)
}
