package python

import "strings"

func find(name string, search func(s, part string) int, raise bool) method {
	return func(t *Thread, self Value, a Args) Value {
		p := a.Plain(name, 1, 3)
		part := textArg(p[0], "must be str, not %s")
		s, before, ok := window(own(self), p[1], p[2])
		t.Spend(len(s) >> 6)
		at := -1
		if ok {
			at = search(s, part)
		}
		if at < 0 {
			if raise {
				Raise(ValueError, "substring not found")
			}
			return -1
		}
		return before + runeCount(s[:at])
	}
}

func count(t *Thread, self Value, a Args) Value {
	p := a.Plain("count", 1, 3)
	part := textArg(p[0], "must be str, not %s")
	s, _, ok := window(own(self), p[1], p[2])
	t.Spend(len(s) >> 6)
	if !ok {
		return 0
	}
	return strings.Count(s, part)
}

func affix(name string, has func(s, part string) bool) method {
	return func(_ *Thread, self Value, a Args) Value {
		p := a.Plain(name, 1, 3)
		s, _, ok := window(own(self), p[1], p[2])
		if parts, isTuple := p[0].(*Tuple); isTuple {
			found := false
			for _, part := range parts.Items {
				text, isText := Text(part)
				if !isText {
					Raise(TypeError, "tuple for %s must only contain str, not %s", name, TypeName(part))
				}
				if ok && has(s, text) {
					found = true
					break
				}
			}
			return found
		}
		part, isText := Text(p[0])
		if !isText {
			Raise(TypeError, "%s first arg must be str or a tuple of str, not %s", name, TypeName(p[0]))
		}
		return ok && has(s, part)
	}
}

func split(name string, fromEnd bool) method {
	return func(t *Thread, self Value, a Args) Value {
		p := a.Bind(name, 0, "sep", "maxsplit")
		s, sep, limit := own(self), Or(p[0], nil), Size(Or(p[1], -1))
		t.Text(len(s))
		if sep == nil {
			return textList(t, self, Fields(s, limit, fromEnd))
		}
		by := textArg(sep, "must be str or None, not %s")
		if by == "" {
			Raise(ValueError, "empty separator")
		}
		return textList(t, self, splitAt(s, by, limit, fromEnd))
	}
}

func splitlines(t *Thread, self Value, a Args) Value {
	keep := Truth(t, Or(a.Bind("splitlines", 0, "keepends")[0], false))
	t.Text(len(own(self)))
	return textList(t, self, SplitLines(own(self), keep))
}

// textList returns parts as a list of strs of the kind of self.
func textList(t *Thread, self Value, parts []string) *List {
	t.Items(len(parts))
	items := make([]Value, len(parts))
	_, safe := self.(Markup)
	for i, part := range parts {
		if safe {
			items[i] = Markup(part)
		} else {
			items[i] = part
		}
	}
	return &List{Items: items}
}

func partition(name string, fromEnd bool) method {
	return func(_ *Thread, self Value, a Args) Value {
		sep := textArg(a.Plain(name, 1, 1)[0], "must be str, not %s")
		if sep == "" {
			Raise(ValueError, "empty separator")
		}
		s := own(self)
		at := strings.Index(s, sep)
		if fromEnd {
			at = strings.LastIndex(s, sep)
		}
		before, found, after := s, "", ""
		switch {
		case at >= 0:
			before, found, after = s[:at], sep, s[at+len(sep):]
		case fromEnd:
			before, after = "", s
		}
		return NewTuple(like(self, before), like(self, found), like(self, after))
	}
}

func joinMethod(t *Thread, self Value, a Args) Value {
	items := a.Plain("str.join", 1, 1)[0]
	if !CanIterate(t, items) {
		Raise(TypeError, "can only join an iterable")
	}
	sep := own(self)
	b := NewBuffer(t)
	for i, item := range Collect(t, items) {
		text, ok := Text(item)
		if !ok {
			Raise(TypeError, "sequence item %d: expected str instance, %s found", i, TypeName(item))
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(text)
	}
	return b.String()
}

// Replace returns s.replace(old, new, limit); a negative limit is none.
func Replace(t *Thread, s, old, with string, limit int) string {
	n := strings.Count(s, old)
	if limit >= 0 {
		n = min(n, limit)
	}
	if n == 0 {
		return s
	}
	if grow := len(with) - len(old); grow > 0 && n > t.MaxBytes/grow {
		t.Text(-1)
	}
	t.Text(len(s) + n*(len(with)-len(old)))
	return strings.Replace(s, old, with, n)
}

func replace(t *Thread, self Value, a Args) Value {
	p := a.Plain("replace", 2, 3)
	old := textArg(p[0], "replace() argument 1 must be str, not %s")
	with := textArg(p[1], "replace() argument 2 must be str, not %s")
	return Replace(t, own(self), old, with, Size(Or(p[2], -1)))
}

func removeAffix(name string, trim func(s, part string) string) method {
	return func(_ *Thread, self Value, a Args) Value {
		part := textArg(a.Plain(name, 1, 1)[0], name[len("str."):]+"() argument must be str, not %s")
		return trim(own(self), part)
	}
}
