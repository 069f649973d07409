// Five small tokenizers, each in the style of a family of models.
const letters = (() => {
  const out = [];
  let next = 256;
  for (let b = 0; b < 256; b++) out.push(String.fromCodePoint((b >= 33 && b <= 126) || (b >= 161 && b !== 173) ? b : next++));
  return out;
})();

function model(alphabet, merges, more = {}) {
  const vocab = {};
  const add = t => { if (!(t in vocab)) vocab[t] = Object.keys(vocab).length; };
  const prefix = more.continuing_subword_prefix ?? '';
  (more.first ?? []).forEach(add);
  alphabet.forEach(add);
  merges.forEach(([a, b]) => add(a + b.slice(prefix.length)));
  delete more.first;
  return { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false,
    ignore_merges: false, ...more, vocab, merges };
}
const pairs = text => text.trim().split(/\s+/).map(x => x.split('+'));
const added = (content, flags = {}) => ({ id: 0, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true, ...flags });
const tokenizer = parts => ({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, ...parts });
const byteLevel = (more = {}) => ({ type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true, ...more });
const template = id => ({ type: 'TemplateProcessing', single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }], special_tokens: { '<s>': { id: '<s>', ids: [id], tokens: ['<s>'] } } });

const english = pairs("Ġ+t h+e Ġt+he i+n Ġ+a r+e o+n Ġ+Ġ ĠĠ+ĠĠ Ċ+Ċ e+r Ã+© '+s Ġ+w o+r Ġw+or l+d Ġwor+ld 1+2 12+3");
const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`);

export const byHand = {
  // GPT-2: ByteLevel with its own pattern
  gpt2: tokenizer({ model: model(letters, english.map(p => p.join(' ')).map(s => s.split(' '))), pre_tokenizer: byteLevel({ add_prefix_space: true }),
    decoder: byteLevel(), post_processor: byteLevel({ trim_offsets: false }), added_tokens: [added('<|endoftext|>')] }),
  // Qwen: NFC, a pattern, unflagged added tokens
  chatml: tokenizer({
    model: model(letters, english), normalizer: { type: 'NFC' },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [
      { type: 'Split', pattern: { Regex: "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+" }, behavior: 'Isolated', invert: false },
      byteLevel({ use_regex: false })] },
    decoder: byteLevel(), added_tokens: [added('<|im_start|>'), added('<|im_end|>'), added('<think>', { special: false }), added('é', { special: false, normalized: true })],
  }),
  // Llama 2 and Gemma: no pre-tokenizer, byte fallback, a beginning token
  sentencepiece: tokenizer({
    model: model([...'▁abcdefghilmnorstuvw.,!?éж漢'], pairs('▁+t h+e ▁t+he ▁+▁ ▁▁+▁▁ i+n ▁+a e+r ▁+w o+r ▁w+or l+d ▁wor+ld'),
      { first: ['<unk>', '<s>', '</s>', ...bytes.filter((_, b) => b !== 0x80)], unk_token: '<unk>', fuse_unk: true, byte_fallback: true }),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: '▁' }, { type: 'Replace', pattern: { String: ' ' }, content: '▁' }] },
    post_processor: template(1),
    decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
    added_tokens: [added('<unk>'), added('<s>'), added('</s>')],
  }),
  // T5 and newer Mistral: Metaspace, and every flag of an added token
  metaspace: tokenizer({
    model: model([...'▁abcdefghilmnorstuvw.,!?é'], pairs('▁+t h+e ▁t+he i+n ▁+a e+r'), { first: ['<unk>'], unk_token: '<unk>' }),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, { type: 'NFD' }, { type: 'StripAccents' }, { type: 'Strip', strip_left: false, strip_right: true }] },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true }] },
    decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
    added_tokens: [added('<mask>', { lstrip: true }), added('<sep>', { rstrip: true }), added('Day', { single_word: true, normalized: true, special: false }), added('[X]', { lstrip: true, rstrip: true, special: false })],
  }),
  // CLIP: a prefix for subwords that continue, a suffix for those that end
  marks: tokenizer({
    model: model([...'abcdehiklorstw', ...[...'abcdehiklorstw'].map(c => `##${c}`), ...[...'abcdehiklorstw'].map(c => `##${c}</w>`), ...[...'abcdehiklorstw'].map(c => `${c}</w>`)],
      pairs('t+##h th+##e</w> ##l+##d</w> w+##o wo+##r wor+##ld</w>'), { first: ['<unk>'], unk_token: '<unk>', continuing_subword_prefix: '##', end_of_word_suffix: '</w>' }),
    normalizer: { type: 'Sequence', normalizers: [{ type: 'NFKC' }, { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' }, { type: 'Lowercase' }] },
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Whitespace' }, { type: 'Punctuation', behavior: 'Isolated' }] },
    decoder: { type: 'BPEDecoder', suffix: '</w>' }, added_tokens: [added('<unk>')],
  }),
};
