// The presets of a picker: those whose names have all words that were typed, whatever the case, the accents and the signs.
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';

// “Plexi ’68 Crunch” becomes “plexi 68 crunch”. Quotes leave nothing between the letters beside them, other signs a space.
export const plainName = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'"`´‘’‚‛“”„‟′″ʼ«»‹›]+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

export function isNamed(name: string, typed: string): boolean {
  const words = plainName(typed);
  if (words === '') return name.toLowerCase().includes(typed.trim().toLowerCase()); // signs alone
  const plain = plainName(name);
  const joined = plain.replaceAll(' ', '');
  return words.split(' ').every((word) => plain.includes(word) || joined.includes(word));
}

const unique = (all: Schemas['Preset'][]) => [...new Map(all.map((one) => [one.id, one])).values()];

// The service looks for the text as it is typed, so it is asked for names only where not all presets are read.
export function useNamedPresets(text: string) {
  const typed = text.trim();
  const first = useQuery(queries.presets(''));
  const all = useQuery({ ...queries.allPresets(), ...(typed ? {} : { enabled: false }) });
  const [asked] = useDebouncedValue(typed, 200);
  const cut = Boolean(all.data?.nextCursor);
  const further = useQuery({ ...queries.presets(asked), ...(cut && asked ? {} : { enabled: false }) });
  const read = all.data ?? first.data;
  if (!typed) return { found: first.data?.data ?? [], none: false, error: first.error };
  const named = unique([...(read?.data ?? []), ...(cut ? (further.data?.data ?? []) : [])]).filter(({ name }) =>
    isNamed(name, typed),
  );
  const whole =
    all.data !== undefined && (!cut || (asked === typed && further.isSuccess && !further.isPlaceholderData));
  return { found: named, none: whole && named.length === 0, error: all.error ?? (cut ? further.error : null) };
}
