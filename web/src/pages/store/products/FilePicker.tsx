// The files of a match: chosen from the merchant's cloud account by name, or the mark that there are none.
import '@/i18n/en/stores';
import { MultiSelect } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { useState, type KeyboardEvent } from 'react';
import { sentence } from '@/api/errors';
import { noneText, PresetOption } from '@/components/PresetPicker';
import { useNamedPresets } from '@/components/useNamedPresets';
import { t } from '@/i18n/text';
import type { File, Match } from './draft';
import styles from './products.module.css';

const IGNORE = '\u0000ignore'; // no file is named so

export function FilePicker({
  label,
  match,
  onChange,
  onDone,
}: {
  label: string;
  match: Match;
  onChange: (match: Match) => void;
  onDone: () => void;
}) {
  const [text, setText] = useState('');
  const { found: presets, read, none, error } = useNamedPresets(text);
  const found = presets.map(({ id, kind, name }): File => ({
    fileId: id,
    kind,
    fileName: name,
    stale: false,
  }));
  const known = new Map([...found, ...match.files].map((file) => [file.fileId, file]));
  // A former cloud user's file is named anew when it is chosen anew.
  for (const file of found) known.set(file.fileId, file);
  const choose = (ids: string[]) => {
    if (ids.includes(IGNORE)) {
      onChange({ ...match, ignored: true, files: [] });
      onDone();
      return;
    }
    onChange({ ...match, ignored: false, files: ids.flatMap((id) => known.get(id) ?? []) });
    setText('');
  };
  // Enter takes the first preset of the list where no arrow key has gone to another.
  const first =
    read && text.trim() ? found.find(({ fileId }) => !match.files.some((one) => one.fileId === fileId)) : undefined;
  const enter = (event: KeyboardEvent<HTMLInputElement>) => {
    const composing = event.nativeEvent.isComposing; // the Enter ends a word of an input method
    if (event.key !== 'Enter' || composing || !first || event.currentTarget.hasAttribute('aria-activedescendant'))
      return;
    event.preventDefault();
    choose([...match.files.map(({ fileId }) => fileId), first.fileId]);
  };
  return (
    <MultiSelect
      className={styles.picker}
      aria-label={label}
      data={[
        // The first choice: the list of presets may be long.
        ...(text.trim() ? [] : [{ value: IGNORE, label: t('products.ignore') }]),
        ...[...known.values()].map(({ fileId, fileName }) => ({ value: fileId, label: fileName || fileId })),
      ]}
      value={match.files.map(({ fileId }) => fileId)}
      onChange={choose}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      hidePickedOptions
      autoFocus
      defaultDropdownOpened
      onKeyDown={enter}
      onBlur={onDone}
      placeholder={match.files.length === 0 ? t('products.choose') : undefined}
      nothingFoundMessage={none ? noneText(text) : undefined}
      error={error ? sentence(error) : undefined}
      renderOption={({ option }) =>
        option.value === IGNORE ? (
          <span className={styles.ignoreOption}>
            <IconEyeOff size={15} aria-hidden="true" />
            {option.label}
          </span>
        ) : (
          <PresetOption name={option.label} kind={known.get(option.value)?.kind ?? ''} />
        )
      }
    />
  );
}
