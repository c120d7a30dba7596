// Text of other people: of shops, buyers and the cloud platform. Characters that steer the direction of text could reorder ours around it, and
// a U+2069 of theirs ends an isolate of ours, that of an element too. Isolates that they begin and end stay; what else steers is named.
export type Sign = { at: number; length: number; sign: string };

export const STEERING = /[\u001c-\u001e\u0085\u2029\u202a-\u202e\u2066-\u2069]/g;
const TO_THE_LEFT = /[\u0590-\u08ff\u200e\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const [BEGIN, END] = ['\u2068', '\u2069'];

export const codeOf = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

// The characters of a text that act beyond its end or turn what is in it, with their names.
export function steering(text: string): Sign[] {
  const signs = new Map<number, Sign>();
  const begun: number[] = [];
  for (const { 0: character, index } of text.matchAll(STEERING)) {
    const isBalanced = character === END && signs.delete(begun.pop() ?? -1);
    if (!isBalanced) signs.set(index, { at: index, length: 1, sign: codeOf(character) });
    if (character >= '\u2066' && character < END) begun.push(index);
  }
  return [...signs.values()];
}

// The text with names in the places of its signs.
export const named = (text: string, nameOf: (sign: string) => string) =>
  steering(text).reduceRight((rest, { at, sign }) => `${rest.slice(0, at)}${nameOf(sign)}${rest.slice(at + 1)}`, text);
export const inSentence = (sign: string) => `[${sign}]`;

// The text for a sentence without elements: a title, a label, a toast.
export function isolated(text: string): string {
  const shown = named(text, inSentence);
  return TO_THE_LEFT.test(shown) ? `${BEGIN}${shown}${END}` : shown;
}
