// The preset that a product is most likely to be: one of equal name, whatever the case, the quotes and the signs between the words.
import type { Schemas } from '@/api/client';
import { plainName } from '@/components/presets';

export function suggestionFor(product: string, presets: Schemas['Preset'][]): Schemas['Preset'] | undefined {
  const name = plainName(product);
  const equal = name === '' ? [] : presets.filter((preset) => plainName(preset.name) === name);
  return equal.length === 1 ? equal[0] : undefined; // two presets of one name: a person decides
}
