// Package admin is the operator's dashboard.
package admin

import (
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/pgxstore"
	"github.com/alexedwards/scs/v2"
	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"

	"shop/internal/access"
	"shop/internal/operations"
	"shop/internal/orders"
	"shop/internal/web/httpx"
	"shop/templates"
)

// Config of the dashboard.
type Config struct {
	Secure    bool // the origin is https
	Demo      bool
	StripeURL string // page of the local Stripe; empty with the real one
}

// Deps are what the dashboard works with.
type Deps struct {
	Pool   *pgxpool.Pool
	Ops    *operations.Store
	Orders *orders.Store
	Access *access.Store
}

// Admin answers the dashboard's pages.
type Admin struct {
	Config
	Deps
	sessions *scs.SessionManager
}

// actorKey is where a session keeps who signed in.
const actorKey = "actor"

// Register adds the dashboard's routes to r, which is mounted at /admin.
func Register(r gin.IRouter, k *httpx.Kit, c Config, d Deps) {
	sessions := scs.New()
	sessions.Store = pgxstore.NewWithCleanupInterval(d.Pool, 0) // expired rows are deleted with the other old rows
	sessions.Lifetime = 12 * time.Hour
	sessions.IdleTimeout = time.Hour
	sessions.Cookie = scs.SessionCookie{Name: "admin", Path: "/admin", HttpOnly: true, Secure: c.Secure,
		SameSite: http.SameSiteStrictMode, Persist: true}
	a := &Admin{Config: c, Deps: d, sessions: sessions}

	r.Use(k.Middleware(a.loadSession))
	r.GET("/sign-in", k.Page(a.signIn))
	in := r.Group("", k.Middleware(a.requireSignIn))
	in.GET("", k.Page(func(c *gin.Context) error { return httpx.SeeOther(c, "/admin/operations") }))
	in.GET("/operations", k.Page(a.operations))
	in.GET("/operations/:key", k.Page(a.operation))
	in.POST("/sign-out", k.Page(a.signOut))
}

func (a *Admin) shell(c *gin.Context) templates.AdminShell {
	return templates.AdminShell{Demo: a.Demo, SignedIn: a.actor(c) != ""}
}

func (a *Admin) actor(c *gin.Context) string {
	return a.sessions.GetString(c.Request.Context(), actorKey)
}

// loadSession reads the session of the cookie; a token that is unknown or has
// expired gives an empty one.
func (a *Admin) loadSession(c *gin.Context) error {
	token, _ := c.Cookie(a.sessions.Cookie.Name)
	ctx, err := a.sessions.Load(c.Request.Context(), token)
	if err != nil {
		return err
	}
	c.Request = c.Request.WithContext(ctx)
	return nil
}

// saveSession commits the session and sends its cookie. It is called before
// the answer is written.
func (a *Admin) saveSession(c *gin.Context) error {
	ctx := c.Request.Context()
	token, expiry, err := a.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	a.sessions.WriteSessionCookie(ctx, c.Writer, token, expiry)
	return nil
}

func (a *Admin) requireSignIn(c *gin.Context) error {
	if a.actor(c) != "" {
		return a.saveSession(c) // renews the idle timeout
	}
	if err := httpx.Render(c, http.StatusUnauthorized, templates.AdminSignInPage(templates.AdminSignInView{
		AdminShell: a.shell(c), State: templates.SignInNeeded})); err != nil {
		return err
	}
	c.Abort()
	return nil
}

// signIn spends a one-time link. The session gets a new token, so that one
// planted beforehand is worth nothing.
func (a *Admin) signIn(c *gin.Context) error {
	ctx := c.Request.Context()
	state := templates.SignInNeeded
	if token := c.Query("token"); token != "" {
		actor, err := a.Access.UseLink(ctx, token)
		switch {
		case err == nil:
			if err := a.sessions.RenewToken(ctx); err != nil {
				return err
			}
			a.sessions.Put(ctx, actorKey, actor)
			if err := a.saveSession(c); err != nil {
				return err
			}
			return httpx.SeeOther(c, "/admin/operations")
		case errors.Is(err, access.ErrLinkUsed):
			state = templates.SignInLinkUsed
		case errors.Is(err, access.ErrLinkExpired):
			state = templates.SignInLinkExpired
		default:
			return err
		}
		if a.actor(c) != "" {
			return httpx.SeeOther(c, "/admin/operations") // a second click on a link that did its work
		}
	}
	return httpx.Render(c, http.StatusUnauthorized, templates.AdminSignInPage(templates.AdminSignInView{AdminShell: a.shell(c), State: state}))
}

func (a *Admin) signOut(c *gin.Context) error {
	ctx := c.Request.Context()
	if err := a.sessions.Destroy(ctx); err != nil {
		return err
	}
	a.sessions.WriteSessionCookie(ctx, c.Writer, "", time.Time{})
	return httpx.SeeOther(c, "/admin/sign-in")
}
