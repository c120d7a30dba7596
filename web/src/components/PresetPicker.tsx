// One file of the merchant's cloud account, found by its name.
import { Select } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { Bdi } from './Bdi';
import styles from './PresetPicker.module.css';
import { useNamedPresets } from './useNamedPresets';

type Preset = Schemas['Preset'];
// Words beside a preset in the list, and whether it cannot be chosen.
export type Mark = { words: string; disabled: boolean };
type Props = {
  label: string;
  value: Preset | null;
  onChange: (preset: Preset | null) => void;
  className?: string;
  markOf?: (id: string) => Mark | undefined;
};

export function PresetOption({ name, kind, mark }: { name: string; kind: string; mark?: string | undefined }) {
  return (
    <span className={styles.option}>
      <Bdi>{name}</Bdi>
      <span>{mark ?? word('kind', kind)}</span>
    </span>
  );
}

export const noneText = (typed: string) => <Bdi>{t('picker.none', { text: typed.trim() })}</Bdi>;

export function PresetPicker({ label, value, onChange, className, markOf }: Props) {
  const [text, setText] = useState('');
  const typed = text === value?.name ? '' : text;
  const { found, none, error } = useNamedPresets(typed);
  const all = value && !typed && !found.some(({ id }) => id === value.id) ? [value, ...found] : found;
  return (
    <Select
      className={className}
      label={label}
      size="md"
      placeholder={t('picker.placeholder')}
      searchable
      filter={({ options }) => options}
      data={all.map(({ id, name }) => ({ value: id, label: name, disabled: markOf?.(id)?.disabled ?? false }))}
      value={value?.id ?? null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => onChange(all.find((preset) => preset.id === id) ?? (value?.id === id ? value : null))}
      nothingFoundMessage={error ? sentence(error) : none ? noneText(typed) : undefined}
      renderOption={({ option }) => (
        <PresetOption
          name={option.label}
          kind={all.find(({ id }) => id === option.value)?.kind ?? ''}
          mark={markOf?.(option.value)?.words}
        />
      )}
    />
  );
}
