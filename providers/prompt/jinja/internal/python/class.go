package python

import (
	"strconv"
	"unicode"
)

// Printable says whether repr shows a character as it is.
func Printable(r rune) bool { return strconv.IsPrint(r) }

func isAlpha(r rune) bool   { return unicode.IsLetter(r) }
func isDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }
func isAlnum(r rune) bool   { return isAlpha(r) || isNumeric(r) }
func isDigit(r rune) bool   { return isDecimal(r) || unicode.Is(otherDigits, r) }

func isNumeric(r rune) bool { return unicode.IsNumber(r) || unicode.Is(numericLetters, r) }

// IsDigit returns s.isdigit().
func IsDigit(s string) bool { return every(s, isDigit) }

// IsIdentifier returns s.isidentifier().
func IsIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !start && (i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)) {
			return false
		}
	}
	return s != ""
}

// otherDigits have a digit value without being decimal: superscripts, circled
// digits and the like (Numeric_Type=Digit in the Unicode Character Database).
var otherDigits = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xb2, Hi: 0xb3, Stride: 1}, {Lo: 0xb9, Hi: 0xb9, Stride: 1}, {Lo: 0x1369, Hi: 0x1371, Stride: 1}, {Lo: 0x19da, Hi: 0x19da, Stride: 1},
		{Lo: 0x2070, Hi: 0x2070, Stride: 1}, {Lo: 0x2074, Hi: 0x2079, Stride: 1}, {Lo: 0x2080, Hi: 0x2089, Stride: 1}, {Lo: 0x2460, Hi: 0x2468, Stride: 1},
		{Lo: 0x2474, Hi: 0x247c, Stride: 1}, {Lo: 0x2488, Hi: 0x2490, Stride: 1}, {Lo: 0x24ea, Hi: 0x24ea, Stride: 1}, {Lo: 0x24f5, Hi: 0x24fd, Stride: 1},
		{Lo: 0x24ff, Hi: 0x24ff, Stride: 1}, {Lo: 0x2776, Hi: 0x277e, Stride: 1}, {Lo: 0x2780, Hi: 0x2788, Stride: 1}, {Lo: 0x278a, Hi: 0x2792, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10a40, Hi: 0x10a43, Stride: 1}, {Lo: 0x10e60, Hi: 0x10e68, Stride: 1}, {Lo: 0x11052, Hi: 0x1105a, Stride: 1}, {Lo: 0x1f100, Hi: 0x1f10a, Stride: 1},
	},
	LatinOffset: 2,
}

// numericLetters are ideographs with a numeric value.
var numericLetters = runeTable("㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零" +
	"\uf96b\uf973\uf978\uf9b2\uf9d1\uf9d3\uf9fd\U00020001\U00020064\U000200e2\U00020121\U0002092a\U00020983\U0002098c\U0002099c\U00020aea\U00020afd\U00020b19\U00022390\U00022998\U00023b1b\U0002626d\U0002f890")

func runeTable(s string) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for _, r := range s {
		if r <= 0xffff {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(r), Hi: uint16(r), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(r), Hi: uint32(r), Stride: 1})
		}
	}
	return t
}
