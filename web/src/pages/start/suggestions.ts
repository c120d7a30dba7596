// The preset that a product is most likely to be: one of equal name, whatever the case, the quotes and the signs between the words.
import type { Schemas } from '@/api/client';

// “Plexi ’68 Crunch” becomes “plexi 68 crunch”.
const plain = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'`´‘’′ʼ]+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

export function suggestionFor(product: string, presets: Schemas['Preset'][]): Schemas['Preset'] | undefined {
  const name = plain(product);
  const equal = name === '' ? [] : presets.filter((preset) => plain(preset.name) === name);
  return equal.length === 1 ? equal[0] : undefined; // two presets of one name: a person decides
}
