package httpapi

import (
	"net/http"

	"github.com/interlock-harness/interlock/docs/problems"
)

// problemPage answers GET /problems/{type}, to which every problem links.
func problemPage(_ *Server, c *call) error {
	for _, k := range problemKinds {
		if k.suffix == c.params["type"] {
			page, err := problems.FS.ReadFile(k.suffix + ".md")
			if err != nil {
				return err
			}
			c.write(http.StatusOK, "text/markdown; charset=utf-8", page)
			return nil
		}
	}
	return refuse(notFound, "")
}
