// Regenerates the goldens of tokenizers.
//
//   node goldens.mjs FOLDER ids CORPUS.json TOKENIZER.json | gzip -9n > ../ids/NAME.json.gz
//   node goldens.mjs FOLDER toys | gzip -9n > ../../bpe/testdata/toys.jsonl.gz
//
// A golden of ids is {"ids", "sp", "dec"}: without and with the tokens of the post-processor, and the text decoded from the former.
// A line of toys is {"name", "tokenizer", "cases": [{"s", "ids", "framed", "text", "bare"}]}: ids without and with the tokens of the
// post-processor, and the text decoded from the latter, with and without special tokens.
import { readFileSync } from 'node:fs';
import { Tokenizer, chance } from './oracle.mjs';
import { strings } from './strings.mjs';
import { toy } from './toys.mjs';
import { byHand } from './toys_by_hand.mjs';

const encode = async (tokenizer, text, addSpecialTokens) => (await tokenizer.encode(text, null, { addSpecialTokens })).getIds();

async function ids(corpus, file) {
  const tokenizer = Tokenizer.fromFile(file), out = [];
  for (const { s } of JSON.parse(readFileSync(corpus, 'utf8'))) {
    const ids = await encode(tokenizer, s, false);
    out.push({ ids, sp: await encode(tokenizer, s, true), dec: await tokenizer.decode(ids, false) });
  }
  process.stdout.write(JSON.stringify(out));
}

async function toys() {
  const all = Object.entries(byHand).map(([name, parts]) => [name, parts, 60]);
  // seeds on which the library aborts are left out
  for (const seed of [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 30]) all.push([`random-${seed}`, toy(chance(seed)), 12]);
  for (const [name, parts, count] of all) {
    const tokenizer = Tokenizer.fromString(JSON.stringify(parts)), cases = [];
    for (const s of strings(chance(7), parts.added_tokens.map(t => t.content), count)) {
      const framed = await encode(tokenizer, s, true);
      cases.push({ s: s.toWellFormed(), ids: await encode(tokenizer, s, false), framed, text: await tokenizer.decode(framed, false), bare: await tokenizer.decode(framed, true) });
    }
    console.log(JSON.stringify({ name, tokenizer: parts, cases }));
  }
}

await (process.argv[3] === 'ids' ? ids(process.argv[4], process.argv[5]) : toys());
