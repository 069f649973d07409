package python

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Strftime returns datetime.strftime(layout) of the wall clock of now, in the C
// locale of glibc. Like datetime.now() it has no time zone: %z and %Z are empty.
func Strftime(t *Thread, now time.Time, layout string) string {
	b := NewBuffer(t)
	for layout != "" {
		i := strings.IndexByte(layout, '%')
		if i < 0 || i+1 == len(layout) {
			b.WriteString(layout)
			break
		}
		b.WriteString(layout[:i])
		d, rest := parseDirective(layout[i:])
		b.WriteString(d.format(t, now))
		layout = rest
	}
	return b.String()
}

// directive is one %, glibc's flags and width, and the letter.
type directive struct {
	text  string // as written
	pad   byte   // _, - or 0 as written; 0 for the letter's own way
	upper bool   // ^
	swap  bool   // #
	width int
	verb  byte
}

func parseDirective(s string) (d directive, rest string) {
	i := 1
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '_', '-', '0':
			d.pad = s[i]
		case '^':
			d.upper = true
		case '#':
			d.swap = true
		default:
			break flags
		}
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		d.width = min(d.width*10+int(s[i]-'0'), 1<<20)
	}
	if i < len(s) && (s[i] == 'E' || s[i] == 'O') {
		i++
	}
	if i < len(s) {
		d.verb = s[i]
		i++
	}
	d.text = s[:i]
	return d, s[i:]
}

func (d directive) format(t *Thread, now time.Time) string {
	switch d.verb {
	case 'a':
		return d.word(t, now.Format("Mon"))
	case 'A':
		return d.word(t, now.Format("Monday"))
	case 'b', 'h':
		return d.word(t, now.Format("Jan"))
	case 'B':
		return d.word(t, now.Format("January"))
	case 'p':
		if d.swap {
			return d.word(t, strings.ToLower(now.Format("PM")))
		}
		return d.word(t, now.Format("PM"))
	case 'P':
		return d.word(t, now.Format("pm"))
	case 'c':
		return d.word(t, now.Format("Mon Jan _2 15:04:05 2006"))
	case 'D', 'x':
		return d.word(t, now.Format("01/02/06"))
	case 'F':
		return d.word(t, strconv.Itoa(now.Year())+now.Format("-01-02"))
	case 'T', 'X':
		return d.word(t, now.Format("15:04:05"))
	case 'R':
		return d.word(t, now.Format("15:04"))
	case 'r':
		return d.word(t, now.Format("03:04:05 PM"))
	case 'n':
		return d.word(t, "\n")
	case 't':
		return d.word(t, "\t")
	case '%':
		return d.word(t, "%")
	case 'z', 'Z':
		return ""
	case 'f': // Python's own, so that glibc's flags do not apply
		switch d.text {
		case "%f":
			return fmt.Sprintf("%06d", now.Nanosecond()/1000)
		case "%^f":
			return "%^F"
		}
	}
	if n, width, pad, ok := number(d.verb, now); ok {
		return d.number(t, n, width, pad)
	}
	return d.text
}

// number returns the value of a numeric directive, its width and its padding.
func number(verb byte, now time.Time) (n, width int, pad byte, ok bool) {
	isoYear, isoWeek := now.ISOWeek()
	hour12 := (now.Hour()+11)%12 + 1
	switch verb {
	case 'd':
		return now.Day(), 2, '0', true
	case 'e':
		return now.Day(), 2, ' ', true
	case 'm':
		return int(now.Month()), 2, '0', true
	case 'y':
		return now.Year() % 100, 2, '0', true
	case 'Y':
		return now.Year(), 1, '0', true
	case 'C':
		return now.Year() / 100, 2, '0', true
	case 'G':
		return isoYear, 1, '0', true
	case 'g':
		return isoYear % 100, 2, '0', true
	case 'V':
		return isoWeek, 2, '0', true
	case 'H':
		return now.Hour(), 2, '0', true
	case 'k':
		return now.Hour(), 2, ' ', true
	case 'I':
		return hour12, 2, '0', true
	case 'l':
		return hour12, 2, ' ', true
	case 'M':
		return now.Minute(), 2, '0', true
	case 'S':
		return now.Second(), 2, '0', true
	case 'j':
		return now.YearDay(), 3, '0', true
	case 'w':
		return int(now.Weekday()), 1, '0', true
	case 'u':
		return (int(now.Weekday())+6)%7 + 1, 1, '0', true
	case 'U':
		return (now.YearDay() + 6 - int(now.Weekday())) / 7, 2, '0', true
	case 'W':
		return (now.YearDay() + 6 - (int(now.Weekday())+6)%7) / 7, 2, '0', true
	case 's':
		wall := time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), 0, time.UTC)
		return int(wall.Unix()), 1, '0', true
	}
	return 0, 0, 0, false
}

func (d directive) number(t *Thread, n, width int, pad byte) string {
	switch d.pad {
	case '-':
		width, pad = 0, ' '
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	}
	s := strconv.Itoa(n)
	return repeat(t, string(pad), max(width, d.width)-len(s)) + s
}

func (d directive) word(t *Thread, s string) string {
	if d.upper || d.swap && d.verb != 'p' {
		s = strings.ToUpper(s)
	}
	pad := " "
	if d.pad == '0' {
		pad = "0"
	}
	return repeat(t, pad, d.width-len(s)) + s
}
