// Regenerates providers/prompt/onig/testdata/matches.json.gz: patterns and what
// the library's Oniguruma finds with them.
//
//   node patterns.mjs FOLDER [SEED] [COUNT] | gzip -9n > ../../onig/testdata/matches.json.gz
//
// Each line is {"re", "err": true} or {"re", "cases": [{"s", "isolated", "found"}]}: the text cut at every match, and
// the matches that are not empty. A pattern that runs into the library's retry limit ends the process (it aborts);
// take another seed then.
import { chance, load, pieces } from './oracle.mjs';

const random = chance(Number(process.argv[3] ?? 1)), count = Number(process.argv[4] ?? 700);
const letters = ['a', 'b', 's', 'k', "'", ' ', '\\n', '1', 'é', 'Ω', '漢', '\\.', '-', '_', '😀', 'e\u0301', '\\r'];
const classes = ['\\s', '\\S', '\\w', '\\W', '\\d', '\\p{L}', '\\P{L}', '\\p{N}', '\\p{^N}', '\\p{Lu}', '\\p{Ll}', '\\p{Han}', '\\p{P}', '\\p{S}',
  '\\p{M}', '[a-c]', '[^a-c]', '[^\\r\\n\\p{L}\\p{N}]', '[\\p{L}&&[^a]]', '[a-z&&\\w&&[^aeiou]]', '[[:alpha:]]', '[^[:space:]]', '[\\s\\p{P}]', '.',
  '\\h', '[^\\s[ab]]', '[k-s]', '[^\\p{Lu}]', '\\R', '\\N'];
const anchors = ['^', '$', '\\b', '\\B', '\\A', '\\z', '\\Z', '\\G'];
const repeats = ['', '', '', '', '?', '*', '+', '{2}', '{1,3}', '{,2}', '{2,}', '??', '*?', '+?', '?+', '*+', '++', '{1,2}?', '{2}?', '{1,2}+'];
const chars = ['a', 'b', 'c', 's', 'S', 'ſ', 'k', 'K', '\u212a', "'", ' ', ' ', '\n', '\r', '\t', '1', '٣', 'é', 'É', 'Ω', 'ω', '漢', '字', '.', '-', '_',
  '😀', '\u0301', '\u00a0', '\u3000', 'ß', '\u200d', '②', '+', '\u2028'];

function atom(depth) {
  const r = random();
  if (r < .35) return random.pick(letters);
  if (r < .7 || depth <= 0) return random.pick(classes);
  const open = random.pick(['(?:', '(', '(?>', '(?=', '(?!', '(?<=', '(?<!', '(?i:', '(?m:', '(?i)']);
  if (open === '(?i)') return `(?:(?i)${alternation(depth - 1)})`;
  if (open.startsWith('(?<')) {
    return `${open}${random.pick(letters.slice(0, 15))}${random() < .3 ? `|${random.pick(classes)}${random.pick(letters)}` : ''})`;
  }
  return `${open}${alternation(depth - 1)})`;
}

function sequence(depth) {
  let s = '';
  for (let n = 1 + random.below(3); n > 0; n--) {
    if (random() < .12) s += random.pick(anchors);
    else {
      const a = atom(depth);
      s += a + (/^\(\?(=|!|<)/.test(a) ? '' : random.pick(repeats));
    }
  }
  return s;
}

function alternation(depth) {
  let s = sequence(depth);
  while (random() < .3) s += `|${sequence(depth)}`;
  return s;
}

const text = () => Array.from({ length: random.below(14) }, () => random.pick(chars)).join('');
const known = [
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|" +
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
  ' ?[^(\\s|[.,!?…。，、।۔،])]+', '[一-龥぀-ゟ゠-ヿ]+', '(?<=\\p{L})(?=\\p{N})', '\\d(?=(\\d{3})+\\b)', '[^\\p{L}&&\\S]', '(?x) a \\ b # c\n | d',
];

for (let i = 0; i < count; i++) {
  const re = known[i] ?? alternation(3);
  let isolated, found;
  try {
    const split = (behavior, invert) => load({ pre_tokenizer: { type: 'Split', pattern: { Regex: re }, behavior, invert } }).getPreTokenizer();
    isolated = split('Isolated', false);
    found = split('Removed', true);
  } catch {
    console.log(JSON.stringify({ re, err: true }));
    continue;
  }
  const cases = Array.from({ length: known[i] ? 12 : 4 }, text).map(s => ({ s, isolated: pieces(isolated, s), found: pieces(found, s) }));
  console.log(JSON.stringify({ re, cases }));
}
