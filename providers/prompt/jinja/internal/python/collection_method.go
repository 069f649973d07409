package python

var listMethods, dictMethods map[string]method

func init() {
	listMethods = map[string]method{
		"index": func(t *Thread, self Value, a Args) Value { return indexOfItem(t, self.(*List).Items, a, "list") },
		"count": func(t *Thread, self Value, a Args) Value {
			return countItems(t, self.(*List).Items, a.Plain("list.count", 1, 1)[0])
		},
		"copy": func(t *Thread, self Value, a Args) Value {
			a.Plain("list.copy", 0, 0)
			return &List{Items: Collect(t, self)}
		},
		"pop": pop,
		"clear": func(_ *Thread, self Value, a Args) Value {
			a.Plain("list.clear", 0, 0)
			mutable(self).Items = nil
			return nil
		},
	}
	dictMethods = map[string]method{
		"get": func(_ *Thread, self Value, a Args) Value {
			p := a.Plain("get", 1, 2)
			if v, ok := self.(*Dict).Get(p[0]); ok {
				return v
			}
			return Or(p[1], nil)
		},
		"items":  view("dict.items", Items),
		"keys":   view("dict.keys", Keys),
		"values": view("dict.values", Values),
		"copy": func(t *Thread, self Value, a Args) Value {
			a.Plain("dict.copy", 0, 0)
			t.Items(self.(*Dict).Len())
			return self.(*Dict).Copy()
		},
		"fromkeys": FromKeys,
	}
}

func view(name string, kind ViewKind) method {
	return func(_ *Thread, self Value, a Args) Value {
		a.Plain(name, 0, 0)
		return &View{Dict: self.(*Dict), Kind: kind}
	}
}

// FromKeys is dict.fromkeys.
func FromKeys(t *Thread, _ Value, a Args) Value {
	p := a.Plain("fromkeys", 1, 2)
	d := NewDict()
	for _, key := range Collect(t, p[0]) {
		d.Set(key, Or(p[1], nil))
	}
	return d
}

// NeedsCopy is what a change to a list of the caller panics with. Render then
// starts again on a copy, so that no render is seen by another.
type NeedsCopy struct{}

// mutable returns a list that the template may change.
func mutable(self Value) *List {
	l := self.(*List)
	if l.frozen {
		panic(NeedsCopy{})
	}
	return l
}

func pop(_ *Thread, self Value, a Args) Value {
	at := Size(Or(a.Plain("pop", 0, 1)[0], -1))
	l := mutable(self)
	if len(l.Items) == 0 {
		Raise("IndexError", "pop from empty list")
	}
	v, ok := pick(l.Items, at)
	if !ok {
		Raise("IndexError", "pop index out of range")
	}
	if at < 0 {
		at += len(l.Items)
	}
	l.Items = append(l.Items[:at:at], l.Items[at+1:]...)
	return v
}

// Thaw returns a deep copy of v whose lists may change. What stood at two
// places stands at both in the copy, once.
func Thaw(v Value) Value { return thaw(v, map[Value]Value{}) }

func thaw(v Value, done map[Value]Value) Value {
	switch v.(type) {
	case *List, *Tuple, *Dict:
		if c, ok := done[v]; ok {
			return c
		}
	}
	switch x := v.(type) {
	case *List:
		c := &List{Items: make([]Value, len(x.Items))}
		done[v] = c
		for i, item := range x.Items {
			c.Items[i] = thaw(item, done)
		}
		return c
	case *Tuple:
		c := &Tuple{Items: make([]Value, len(x.Items)), Fields: x.Fields}
		done[v] = c
		for i, item := range x.Items {
			c.Items[i] = thaw(item, done)
		}
		return c
	case *Dict:
		c := x.Copy()
		done[v] = c
		for i := range c.values {
			c.values[i] = thaw(c.values[i], done)
		}
		return c
	}
	return v
}

func indexOfItem(t *Thread, items []Value, a Args, kind string) Value {
	p := a.Plain("index", 1, 3)
	bound := func(v Value, otherwise int) int {
		if !Given(v) {
			return otherwise
		}
		i := sliceIndex(v)
		if i < 0 {
			i = max(i+len(items), 0)
		}
		return min(i, len(items))
	}
	for i, end := bound(p[1], 0), bound(p[2], len(items)); i < end; i++ {
		t.Step()
		if same(items[i], p[0]) || Equal(t, items[i], p[0]) {
			return i
		}
	}
	if kind == "tuple" {
		Raise(ValueError, "tuple.index(x): x not in tuple")
	}
	Raise(ValueError, "%s is not in list", reprShort(p[0]))
	return nil
}

func countItems(t *Thread, items []Value, v Value) Value {
	n := 0
	for _, item := range items {
		t.Step()
		if same(item, v) || Equal(t, item, v) {
			n++
		}
	}
	return n
}

func tupleAttr(x *Tuple, name string) (Value, bool) {
	if at := indexOf(x.Fields, name); at >= 0 {
		return x.Items[at], true
	}
	switch name {
	case "index":
		return bind(func(t *Thread, _ Value, a Args) Value { return indexOfItem(t, x.Items, a, "tuple") }, x, name), true
	case "count":
		return bind(func(t *Thread, _ Value, a Args) Value {
			return countItems(t, x.Items, a.Plain("tuple.count", 1, 1)[0])
		}, x, name), true
	}
	return opaque{}, hidden(x, name)
}

func disjoint(t *Thread, self Value, a Args) Value {
	next := Iterate(t, a.Plain("isdisjoint", 1, 1)[0])
	for v, ok := next(); ok; v, ok = next() {
		if self.(*View).contains(t, v) {
			return false
		}
	}
	return true
}

func rangeAttr(x *Range, name string) (Value, bool) {
	switch name {
	case "start":
		return x.Start, true
	case "stop":
		return x.Stop, true
	case "step":
		return x.Step, true
	case "count":
		return bind(func(_ *Thread, _ Value, a Args) Value {
			return boolInt(x.find(a.Plain("range.count", 1, 1)[0]) >= 0)
		}, x, name), true
	case "index":
		return bind(func(_ *Thread, _ Value, a Args) Value {
			v := a.Plain("range.index", 1, 1)[0]
			at := x.find(v)
			if at < 0 {
				Raise(ValueError, "%s is not in range", reprShort(v))
			}
			return at
		}, x, name), true
	}
	return nil, false
}
