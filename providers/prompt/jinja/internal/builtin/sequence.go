package builtin

import (
	"sort"

	"github.com/interlock-harness/interlock/providers/prompt/jinja/internal/python"
)

func length(t *python.Thread, v python.Value, a python.Args) python.Value {
	alone("len", a)
	return mustLen(t, v)
}

func list(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_list", 0)
	return &python.List{Items: python.Collect(t, v)}
}

func first(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_first", 0)
	if item, ok := python.Iterate(t, v)(); ok {
		return item
	}
	return python.UndefinedHint("No first item, sequence was empty.")
}

func last(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_last", 0)
	backwards, ok := python.Reversed(t, v)
	if !ok {
		python.Raise(python.TypeError, "'%s' object is not reversible", python.TypeName(v))
	}
	if item, ok := backwards.Next(); ok {
		return item
	}
	return python.UndefinedHint("No last item, sequence was empty.")
}

// random is deterministic only where there is nothing to choose.
func random(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_random", 0)
	switch n := mustLen(t, v); n {
	case 0:
		return python.UndefinedHint("No random item, sequence was empty.")
	case 1:
		return python.Subscript(t, v, 0)
	}
	python.Raise(python.UnsupportedError, "the random filter would make every prompt another one")
	return nil
}

func reverse(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_reverse", 0)
	if _, ok := python.Text(v); ok {
		return python.GetSlice(t, v, nil, nil, -1)
	}
	if backwards, ok := python.Reversed(t, v); ok {
		return backwards
	}
	if !python.CanIterate(t, v) {
		python.Raise(python.FilterArgumentError, "argument must be iterable")
	}
	all := python.Collect(t, v)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return &python.List{Items: all}
}

func join(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_join", 0, "d", "attribute")
	d := python.Or(p[0], "")
	get := attrGetter(t, python.Or(p[1], nil), nil)
	var all []python.Value
	next := python.Iterate(t, v)
	for item, ok := next(); ok; item, ok = next() {
		all = append(all, get(item))
	}
	safe := isSafe(d)
	for _, item := range all {
		safe = safe || isSafe(item)
	}
	safe = safe && t.Autoescape
	b := python.NewBuffer(t)
	write := func(v python.Value) {
		if safe {
			b.WriteString(string(python.Escape(t, v)))
		} else {
			b.WriteString(python.Str(t, v))
		}
	}
	for i, item := range all {
		if i > 0 {
			write(d)
		}
		write(item)
	}
	if safe {
		return python.Markup(b.String())
	}
	return b.String()
}

// items yields the pairs of a mapping; of something undefined, nothing.
func items(t *python.Thread, v python.Value, a python.Args) python.Value {
	a.Bind("do_items", 0)
	var next python.Iter
	return python.NewGenerator(func() (python.Value, bool) {
		if next == nil {
			switch x := v.(type) {
			case *python.Undefined:
				return nil, false
			case *python.Dict:
				next = python.Iterate(t, &python.View{Dict: x, Kind: python.Items})
			default:
				python.Raise(python.TypeError, "Can only get item pairs from a mapping.")
			}
		}
		return next()
	})
}

// stable sorts all by their keys, smaller ones first, or last with reverse.
func stable(t *python.Thread, all []python.Value, key func(python.Value) python.Value, reverse bool) {
	keys := make([]python.Value, len(all))
	places := make([]int, len(all))
	for i, item := range all {
		keys[i], places[i] = key(item), i
	}
	sort.SliceStable(places, func(i, j int) bool {
		t.Step()
		if reverse {
			return python.Compare(t, python.Less, keys[places[j]], keys[places[i]])
		}
		return python.Compare(t, python.Less, keys[places[i]], keys[places[j]])
	})
	sorted := make([]python.Value, len(all))
	for i, place := range places {
		sorted[i] = all[place]
	}
	copy(all, sorted)
}

// sortItems sorts by the item or by attributes of it, separated by commas.
func sortItems(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_sort", 0, "reverse", "case_sensitive", "attribute")
	attribute, caseSensitive := python.Or(p[2], nil), python.Or(p[1], false)
	paths := []python.Value{attribute}
	if s, ok := python.Text(attribute); ok {
		paths = nil
		for _, path := range splitText(s, ",") {
			paths = append(paths, path)
		}
	}
	getters := make([]func(python.Value) python.Value, len(paths))
	for i, path := range paths {
		getters[i] = keyOf(t, attrGetter(t, path, nil), caseSensitive)
	}
	all := python.Collect(t, v)
	reverse := python.Index(python.Or(p[0], false)) != 0
	stable(t, all, func(item python.Value) python.Value {
		keys := make([]python.Value, len(getters))
		for i, get := range getters {
			keys[i] = get(item)
		}
		return &python.List{Items: keys}
	}, reverse)
	return &python.List{Items: all}
}

func dictSort(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_dictsort", 0, "case_sensitive", "by", "reverse")
	by, at := python.Or(p[1], "key"), 0
	switch {
	case python.Equal(t, by, "key"):
	case python.Equal(t, by, "value"):
		at = 1
	default:
		python.Raise(python.FilterArgumentError, `You can only sort by either "key" or "value"`)
	}
	d, ok := v.(*python.Dict)
	if !ok {
		if u, undefined := v.(*python.Undefined); undefined {
			u.Fail()
		}
		python.Raise("AttributeError", "'%s' object has no attribute 'items'", python.TypeName(v))
	}
	all := python.Collect(t, &python.View{Dict: d, Kind: python.Items})
	key := keyOf(t, func(pair python.Value) python.Value { return pair.(*python.Tuple).Items[at] }, python.Or(p[0], false))
	stable(t, all, key, python.Index(python.Or(p[2], false)) != 0)
	return &python.List{Items: all}
}

// groupBy sorts by an attribute and returns pairs of its value and the items
// that have it. Without case_sensitive the value is that of the first item.
func groupBy(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_groupby", 1, "attribute", "default", "case_sensitive")
	get := attrGetter(t, p[0], python.Or(p[1], nil))
	key := keyOf(t, get, python.Or(p[2], false))
	all := python.Collect(t, v)
	stable(t, all, key, false)
	var groups []python.Value
	for i := 0; i < len(all); {
		k := key(all[i])
		end := i + 1
		for end < len(all) && python.Equal(t, k, key(all[end])) {
			end++
		}
		group := &python.List{Items: append([]python.Value(nil), all[i:end]...)}
		if !python.Truth(t, python.Or(p[2], false)) {
			k = get(all[i])
		}
		groups = append(groups, &python.Tuple{Items: []python.Value{k, group}, Fields: []string{"grouper", "list"}})
		i = end
	}
	return &python.List{Items: groups}
}

func unique(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_unique", 0, "case_sensitive", "attribute")
	var key func(python.Value) python.Value
	var next python.Iter
	seen := python.NewDict()
	return python.NewGenerator(func() (python.Value, bool) {
		if next == nil {
			key = keyOf(t, attrGetter(t, python.Or(p[1], nil), nil), python.Or(p[0], false))
			next = python.Iterate(t, v)
		}
		for item, ok := next(); ok; item, ok = next() {
			k := key(item)
			if _, known := seen.Get(k); !known {
				seen.Set(k, nil)
				return item, true
			}
		}
		return nil, false
	})
}

// slice cuts a sequence into so many lists.
func slice(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_slice", 1, "slices", "fill_with")
	fill := python.Or(p[1], nil)
	var all []python.Value
	var slices, each, extra, n, offset int
	started := false
	return python.NewGenerator(func() (python.Value, bool) {
		if !started {
			started = true
			all = python.Collect(t, v)
			python.FloorDiv(t, len(all), p[0])
			slices = python.Size(p[0])
			if slices < 0 {
				return nil, false
			}
			each, extra = len(all)/slices, len(all)%slices
		}
		if n >= slices {
			return nil, false
		}
		t.Step()
		start := offset + n*each
		if n < extra {
			offset++
		}
		end := offset + (n+1)*each
		part := append([]python.Value(nil), all[start:end]...)
		if fill != nil && n >= extra {
			part = append(part, fill)
		}
		n++
		return &python.List{Items: part}, true
	})
}

// batch cuts a sequence into lists of so many items.
func batch(t *python.Thread, v python.Value, a python.Args) python.Value {
	p := a.Bind("do_batch", 1, "linecount", "fill_with")
	fill := python.Or(p[1], nil)
	var next python.Iter
	var part []python.Value
	done := false
	return python.NewGenerator(func() (python.Value, bool) {
		if next == nil {
			next = python.Iterate(t, v)
		}
		for !done {
			item, ok := next()
			if !ok {
				break
			}
			if python.Equal(t, len(part), p[0]) {
				full := &python.List{Items: part}
				part = []python.Value{item}
				return full, true
			}
			part = append(part, item)
		}
		if done || len(part) == 0 {
			return nil, false
		}
		done = true
		if fill != nil && python.Compare(t, python.Less, len(part), p[0]) {
			missing := python.Mul(t, &python.List{Items: []python.Value{fill}}, python.Sub(t, p[0], len(part)))
			part = append(part, missing.(*python.List).Items...)
		}
		return &python.List{Items: part}, true
	})
}
