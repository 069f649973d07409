// Random texts that are hard on tokenizers: all scripts, emoji sequences,
// combining marks, control characters, runs of whitespace, contractions, special
// tokens whole and broken, and lone surrogates, which both sides read as U+FFFD.
const scripts = [[0x20, 0x7e], [0x20, 0x7e], [0x61, 0x7a], [0x41, 0x5a], [0x30, 0x39], [0xa0, 0xff], [0x100, 0x24f], [0x250, 0x2ff], [0x300, 0x36f],
  [0x370, 0x3ff], [0x400, 0x52f], [0x530, 0x58f], [0x590, 0x5ff], [0x600, 0x6ff], [0x700, 0x74f], [0x780, 0x7bf], [0x900, 0x97f], [0x980, 0x9ff],
  [0xa00, 0xa7f], [0xa80, 0xaff], [0xb80, 0xbff], [0xc00, 0xc7f], [0xc80, 0xcff], [0xd00, 0xd7f], [0xd80, 0xdff], [0xe00, 0xe7f], [0xe80, 0xeff],
  [0xf00, 0xfff], [0x1000, 0x109f], [0x10a0, 0x10ff], [0x1100, 0x11ff], [0x1200, 0x137f], [0x13a0, 0x13ff], [0x1780, 0x17ff], [0x1800, 0x18af],
  [0x1ab0, 0x1aff], [0x1c80, 0x1c8f], [0x1d00, 0x1dff], [0x1e00, 0x1fff], [0x2000, 0x206f], [0x2070, 0x20cf], [0x20d0, 0x20ff], [0x2100, 0x214f],
  [0x2150, 0x218f], [0x2190, 0x23ff], [0x2460, 0x24ff], [0x2500, 0x27bf], [0x2c00, 0x2dff], [0x2e80, 0x303f], [0x3040, 0x30ff], [0x3130, 0x318f],
  [0x3200, 0x33ff], [0x3400, 0x3450], [0x4e00, 0x9fff], [0x4e00, 0x9fff], [0xa000, 0xa0ff], [0xa640, 0xa7ff], [0xa800, 0xabff], [0xac00, 0xd7a3],
  [0xe000, 0xe0ff], [0xf900, 0xfaff], [0xfb00, 0xfdff], [0xfe00, 0xfe6f], [0xfe70, 0xfeff], [0xff00, 0xffef], [0x10000, 0x100ff], [0x10300, 0x103df],
  [0x10400, 0x104ff], [0x10780, 0x107bf], [0x10d00, 0x10eff], [0x11000, 0x111ff], [0x11900, 0x11ffd], [0x12000, 0x12100], [0x13000, 0x13100],
  [0x16a40, 0x16fff], [0x1d100, 0x1d1ff], [0x1d400, 0x1d7ff], [0x1e000, 0x1e0ff], [0x1e900, 0x1e95f], [0x1ee00, 0x1eeff], [0x1f000, 0x1f2ff],
  [0x1f300, 0x1f6ff], [0x1f900, 0x1faff], [0x1fb00, 0x1fbff], [0x20000, 0x20100], [0x2ebf0, 0x2ec00], [0x2f800, 0x2fa1d], [0x30000, 0x30050],
  [0xe0000, 0xe01ef], [0x0, 0x1f], [0x7f, 0xa0], [0x10fff0, 0x10ffff]];
const spaces = [' ', ' ', ' ', '  ', '    ', '\n', '\n\n', '\r\n', '\r', '\t', '\t\t', '\u00a0', '\u3000', '\u2028', '\u2029', '\u0085', '\u200b', '\u2003',
  '\v', '\f', '\u1680', '\u180e', '\ufeff', '▁', '▁▁', '                '];
const bits = ["'s", "'S", "'ſ", "'t", "'re", "'LL", "'ve", "'D", "'m", '’s', "''", "I'm", "don't", 'WE’LL', '123', '1234567', '3.14', '٣٤٥', '½', '²', 'Ⅷ', '①',
  '...', '!!!', '——', '//', '\\n', '/>', '</', '<|', '|>', '<｜', '｜>', '[INST]', '<0x0A>', '<0x41>', 'foo_bar', 'camelCase', 'HTTPServer', 'ABCdef', 'naïve',
  'e\u0301', 'a\u0323\u0302', 'q\u0307\u0323', '\u1100\u1161\u11a8', '\u212b', 'ﬁ', 'ǆ', 'İ', 'ß', 'ẞ', '👨‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇩🇪🇫🇷', '1️⃣', '☕️', '東京', '日本語テキスト', '한국어',
  'สวัสดี', 'नमस्ते', 'മലയാളം', 'العربية', 'שָׁלוֹם', 'Ελληνικά', 'Привет', '\u0300', '\u200d', '\u200c', '\ufffd', '\ud800', '\udc00', '\ud83d', '\u0000', 'x'.repeat(30),
  'def f(x):\n    return x\n', '{"a": [1, 2]}', 'https://a.b/c?d=%20', '\u0301'.repeat(35), ' \u0301', '\u00ad', '\u061c', '\u202e', '\ue000'];

// strings returns count texts; special are the contents of added tokens.
export function strings(random, special, count) {
  const point = () => {
    const [lo, hi] = random() < .03 ? [0, 0x10ffff] : random.pick(scripts);
    const c = lo + random.below(hi - lo + 1);
    return c >= 0xd800 && c <= 0xdfff ? '\ufffd' : String.fromCodePoint(c);
  };
  const part = () => {
    const r = random();
    if (r < .22) return random.pick(spaces);
    if (r < .5) return random.pick(bits);
    if (r < .58 && special.length) {
      const s = random.pick(special);
      const q = random();
      return q < .7 ? s : q < .8 ? s.slice(0, random.below(s.length + 1)) : q < .9 ? s.toUpperCase() : ` ${s} `;
    }
    if (r < .75) {
      const [lo, hi] = random.pick(scripts);
      let s = '';
      for (let n = 1 + random.below(8); n > 0; n--) {
        const c = lo + random.below(hi - lo + 1);
        s += c >= 0xd800 && c <= 0xdfff ? '' : String.fromCodePoint(c);
      }
      return s;
    }
    if (r < .8) return point().repeat(1 + random.below(40));
    return point();
  };
  return Array.from({ length: count }, () => {
    let s = '';
    for (let n = random.below(random() < .1 ? 60 : 14); n >= 0; n--) s += part();
    return s;
  });
}
