// The presets of a picker: those whose names have all words that were typed. `read`: they are those of this text.
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';

export function useNamedPresets(text: string) {
  const typed = text.trim();
  const [asked] = useDebouncedValue(typed, 200);
  const { data, error, isPlaceholderData } = useQuery(queries.presets(asked));
  const found = data?.data ?? [];
  const read = data !== undefined && asked === typed && !isPlaceholderData;
  return { found, read, none: read && typed !== '' && found.length === 0, error };
}
