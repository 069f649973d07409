package check

// All lists the checks, in the order in which they are shown.
func All() []Check {
	return []Check{
		w01, w02, w03, w04, w05, w06, w07, w08, w09, w10,
		f01, f02, f03, f04, f05, f06,
		s01, s02, s03, s04, s05, s06, s07, s08, s09,
		b01, b02, b03, b04, b05,
		t01, t02, t03, t04, t05, t06,
		p01, p02, p03, p04, p05,
		u01, u02,
		i01, i02, i03, i04,
		r01, r02, r03,
		l01, l02, l03,
		x01, x02, x03,
	}
}

// ByID finds a check.
func ByID(id string) (Check, bool) {
	for _, c := range All() {
		if c.ID == id {
			return c, true
		}
	}
	return Check{}, false
}
