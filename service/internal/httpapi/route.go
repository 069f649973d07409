package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is one row of the contract. Path segments in braces are parameters;
// the others match byte for byte. There are no redirects, no cleaning and no
// trailing slashes: a path that is not in the table does not exist.
type route struct {
	method string
	path   string
	handle func(*Server, *call) error
	access access
	doc    doc
}

// access says who may call a route.
type access int

const (
	everybody access = iota // no credential: health and documents
	owners                  // any valid key
	operators               // a key with the role operator
)

// match finds the route of a request. Without one it returns the refusal: 404
// for an unknown path, 405 with the methods that would fit. Parameters are
// percent-decoded one segment at a time, so that %2F never makes a segment.
func match(routes []route, method, escapedPath string) (*route, map[string]string, *refusal) {
	segments := strings.Split(escapedPath, "/")
	var allowed []string
	for i := range routes {
		params, ok := matchPath(routes[i].path, segments)
		if !ok {
			continue
		}
		if method == routes[i].method || method == http.MethodHead && routes[i].method == http.MethodGet {
			return &routes[i], params, nil
		}
		allowed = append(allowed, routes[i].method)
		if routes[i].method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	if allowed == nil {
		return nil, nil, refuse(notFound, "")
	}
	slices.Sort(allowed)
	no := refuse(methodNotAllowed, "the header Allow names the methods that fit")
	no.allow = strings.Join(allowed, ", ")
	return nil, nil, no
}

func matchPath(pattern string, segments []string) (map[string]string, bool) {
	wanted := strings.Split(pattern, "/")
	if len(wanted) != len(segments) {
		return nil, false
	}
	var params map[string]string
	for i, w := range wanted {
		name, isParam := strings.CutPrefix(w, "{")
		if !isParam {
			if w != segments[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || segments[i] == "" || segments[i] == "." || segments[i] == ".." {
			return nil, false
		}
		if params == nil {
			params = make(map[string]string, 2)
		}
		params[strings.TrimSuffix(name, "}")] = value
	}
	return params, true
}
