// Regenerates providers/prompt/onig/unicode.txt: the character properties that
// the Oniguruma inside the tokenizers library knows (Unicode 16.0), asked from
// that library itself, so that no second Unicode version can creep in.
//
//   npm install --ignore-scripts @anush008/tokenizers@0.6.0   (in a folder of its own)
//   node unicode.mjs FOLDER > ../../onig/unicode.txt
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve(process.argv[2] ?? '.', 'x.js'));
const { Tokenizer } = require('@anush008/tokenizers');

const preTokenizer = p => Tokenizer.fromString(JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: p,
  post_processor: null, decoder: null, model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
})).getPreTokenizer();

// The whole code space without surrogates, in pieces the library likes.
const pieces = [];
for (let lo = 0; lo < 0x110000; lo += 0x4000) {
  let s = '';
  for (let c = lo; c < lo + 0x4000; c++) if (c < 0xd800 || c > 0xdfff) s += String.fromCodePoint(c);
  pieces.push(s);
}

function ranges(property) {
  const split = preTokenizer({ type: 'Split', pattern: { Regex: `\\p{${property}}+` }, behavior: 'Removed', invert: true });
  const out = [];
  for (const piece of pieces) {
    for (const [run] of split.preTokenizeString(piece)) {
      const chars = [...run], lo = chars[0].codePointAt(0), hi = chars.at(-1).codePointAt(0);
      if (out.length && out.at(-1)[1] + 1 === lo) out.at(-1)[1] = hi;
      else if (lo < 0xd800 && hi > 0xdfff) out.push([lo, 0xd7ff], [0xe000, hi]);
      else out.push([lo, hi]);
    }
  }
  return out.map(([lo, hi]) => lo === hi ? lo.toString(16) : `${lo.toString(16)}-${hi.toString(16)}`).join(' ');
}

const categories = {
  Lu: 'Uppercase_Letter', Ll: 'Lowercase_Letter', Lt: 'Titlecase_Letter', Lm: 'Modifier_Letter', Lo: 'Other_Letter',
  Mn: 'Nonspacing_Mark', Mc: 'Spacing_Mark', Me: 'Enclosing_Mark', Nd: 'Decimal_Number', Nl: 'Letter_Number', No: 'Other_Number',
  Pc: 'Connector_Punctuation', Pd: 'Dash_Punctuation', Ps: 'Open_Punctuation', Pe: 'Close_Punctuation', Pi: 'Initial_Punctuation',
  Pf: 'Final_Punctuation', Po: 'Other_Punctuation', Sm: 'Math_Symbol', Sc: 'Currency_Symbol', Sk: 'Modifier_Symbol', So: 'Other_Symbol',
  Zs: 'Space_Separator', Zl: 'Line_Separator', Zp: 'Paragraph_Separator', Cc: 'Control', Cf: 'Format', Co: 'Private_Use',
};
const others = ['Alphabetic', 'Uppercase', 'Lowercase', 'White_Space', 'Emoji', 'Emoji_Presentation', 'Extended_Pictographic', 'Ideographic',
  'Unified_Ideograph'];
const scripts = `Adlam=Adlm Ahom=Ahom Anatolian_Hieroglyphs=Hluw Arabic=Arab Armenian=Armn Avestan=Avst Balinese=Bali Bamum=Bamu
Bassa_Vah=Bass Batak=Batk Bengali=Beng Bhaiksuki=Bhks Bopomofo=Bopo Brahmi=Brah Braille=Brai Buginese=Bugi Buhid=Buhd
Canadian_Aboriginal=Cans Carian=Cari Caucasian_Albanian=Aghb Chakma=Cakm Cham=Cham Cherokee=Cher Chorasmian=Chrs Common=Zyyy
Coptic=Copt Cuneiform=Xsux Cypriot=Cprt Cypro_Minoan=Cpmn Cyrillic=Cyrl Deseret=Dsrt Devanagari=Deva Dives_Akuru=Diak Dogra=Dogr
Duployan=Dupl Egyptian_Hieroglyphs=Egyp Elbasan=Elba Elymaic=Elym Ethiopic=Ethi Garay=Gara Georgian=Geor Glagolitic=Glag Gothic=Goth
Grantha=Gran Greek=Grek Gujarati=Gujr Gunjala_Gondi=Gong Gurmukhi=Guru Gurung_Khema=Gukh Han=Hani Hangul=Hang Hanifi_Rohingya=Rohg
Hanunoo=Hano Hatran=Hatr Hebrew=Hebr Hiragana=Hira Imperial_Aramaic=Armi Inherited=Zinh Inscriptional_Pahlavi=Phli
Inscriptional_Parthian=Prti Javanese=Java Kaithi=Kthi Kannada=Knda Katakana=Kana Kawi=Kawi Kayah_Li=Kali Kharoshthi=Khar
Khitan_Small_Script=Kits Khmer=Khmr Khojki=Khoj Khudawadi=Sind Kirat_Rai=Krai Lao=Laoo Latin=Latn Lepcha=Lepc Limbu=Limb Linear_A=Lina
Linear_B=Linb Lisu=Lisu Lycian=Lyci Lydian=Lydi Mahajani=Mahj Makasar=Maka Malayalam=Mlym Mandaic=Mand Manichaean=Mani Marchen=Marc
Masaram_Gondi=Gonm Medefaidrin=Medf Meetei_Mayek=Mtei Mende_Kikakui=Mend Meroitic_Cursive=Merc Meroitic_Hieroglyphs=Mero Miao=Plrd
Modi=Modi Mongolian=Mong Mro=Mroo Multani=Mult Myanmar=Mymr Nabataean=Nbat Nag_Mundari=Nagm Nandinagari=Nand New_Tai_Lue=Talu Newa=Newa
Nko=Nkoo Nushu=Nshu Nyiakeng_Puachue_Hmong=Hmnp Ogham=Ogam Ol_Chiki=Olck Ol_Onal=Onao Old_Hungarian=Hung Old_Italic=Ital
Old_North_Arabian=Narb Old_Permic=Perm Old_Persian=Xpeo Old_Sogdian=Sogo Old_South_Arabian=Sarb Old_Turkic=Orkh Old_Uyghur=Ougr Oriya=Orya
Osage=Osge Osmanya=Osma Pahawh_Hmong=Hmng Palmyrene=Palm Pau_Cin_Hau=Pauc Phags_Pa=Phag Phoenician=Phnx Psalter_Pahlavi=Phlp Rejang=Rjng
Runic=Runr Samaritan=Samr Saurashtra=Saur Sharada=Shrd Shavian=Shaw Siddham=Sidd SignWriting=Sgnw Sinhala=Sinh Sogdian=Sogd
Sora_Sompeng=Sora Soyombo=Soyo Sundanese=Sund Sunuwar=Sunu Syloti_Nagri=Sylo Syriac=Syrc Tagalog=Tglg Tagbanwa=Tagb Tai_Le=Tale
Tai_Tham=Lana Tai_Viet=Tavt Takri=Takr Tamil=Taml Tangsa=Tnsa Tangut=Tang Telugu=Telu Thaana=Thaa Thai=Thai Tibetan=Tibt Tifinagh=Tfng
Tirhuta=Tirh Todhri=Todr Toto=Toto Tulu_Tigalari=Tutg Ugaritic=Ugar Vai=Vaii Vithkuqi=Vith Wancho=Wcho Warang_Citi=Wara Yezidi=Yezi Yi=Yiii
Zanabazar_Square=Zanb`.split(/\s+/).map(x => x.split('='));

console.log('# Character properties of Oniguruma 6.9.10 (Unicode 16.0). Generated by testdata/oracle/unicode.mjs; do not edit.');
console.log('# NAME[=ALIAS]: inclusive ranges of code points in hexadecimal.');
for (const [short, long] of Object.entries(categories)) console.log(`${short}=${long}: ${ranges(short)}`);
for (const name of others) console.log(`${name}: ${ranges(name)}`);
for (const [long, short] of scripts) {
  const r = ranges(long);
  if (r !== ranges(short)) throw new Error(`${long} is not ${short}`);
  console.log(`${long}=${short}: ${r}`);
}
