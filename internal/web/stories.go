package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
	"shop/internal/web/httpx"
	"shop/templates"
)

// healthTimeout is how long the database may take to answer a health check.
const healthTimeout = 2 * time.Second

// stories lists every page in every state, with canned data.
func stories(r gin.IRouter, k *httpx.Kit) {
	const prefix = "/dev/stories/"
	r.GET("/dev/stories", k.Page(func(c *gin.Context) error {
		return httpx.Render(c, http.StatusOK, templates.StoriesPage(templates.StoryLinks(prefix)))
	}))
	r.GET(prefix+":slug", k.Page(func(c *gin.Context) error {
		for _, s := range templates.Stories() {
			if s.Slug() == c.Param("slug") {
				return httpx.Render(c, http.StatusOK, s.Component)
			}
		}
		return apperr.New(apperr.NotFound, "There is no such story.")
	}))
}
