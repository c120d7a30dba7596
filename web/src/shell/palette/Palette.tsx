// Search and jump: pages, actions, and all that the account has, by a few letters (Ctrl+K, ⌘K).
import '@/i18n/en/palette';
import { ActionIcon, Modal, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { sentence } from '@/api/errors';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import type { Entry } from './entries';
import styles from './palette.module.css';
import { useEntries } from './useEntries';

// `typed`: what was typed since it was asked for.
type Props = { typed: () => string; onClose: () => void; onHelp: () => void };

export function Palette({ typed, onClose, onHelp }: Props) {
  const [before] = useState(() => document.activeElement);
  useEffect(() => () => (before instanceof HTMLElement && before.isConnected ? before.focus() : undefined), [before]);
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      yOffset="12dvh"
      size={620}
      padding={0}
      classNames={{ body: styles.body, content: styles.content }}
      aria-label={t('palette.label')}
    >
      <Finder typed={typed} onClose={onClose} onHelp={onHelp} />
    </Modal>
  );
}

function Finder({ typed, onClose, onHelp }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const [wanted, setWanted] = useState<string | null>(null); // null: the first entry, whichever it is
  const router = useRouter();
  const { shown, busy, error } = useEntries(text, onHelp);
  const present = shown.filter(({ former }) => !former);
  const at = Math.max(
    0,
    present.findIndex(({ key }) => key === wanted),
  );
  const chosen = present[at];
  const idOf = (entry: Entry) => `${id}-${shown.indexOf(entry)}`;
  const chosenId = chosen && idOf(chosen);
  useEffect(() => {
    if (chosenId) document.getElementById(chosenId)?.scrollIntoView({ block: 'nearest' });
  }, [chosenId]);

  function open({ link, act }: Entry, tab = false) {
    if (tab && link) {
      window.open(router.buildLocation(link).href, '_blank', 'noopener');
      return;
    }
    onClose();
    if (link) void router.navigate(link);
    act?.();
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setWanted(present[(at + step + present.length) % present.length]?.key ?? null);
    else if (event.key === 'Enter' && chosen) open(chosen, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        className={styles.field}
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={chosenId}
        aria-label={t('palette.label')}
        placeholder={t('palette.placeholder')}
        leftSection={<IconSearch size={18} aria-hidden="true" />}
        rightSection={
          <ActionIcon className={styles.close} size={44} aria-label={t('action.close')} onClick={onClose}>
            <IconX size={18} />
          </ActionIcon>
        }
        maxLength={100}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
        value={text}
        onFocus={() => {
          const early = typed();
          if (early) setText(early.slice(0, 100));
        }}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setWanted(null);
        }}
        onKeyDown={onKey}
      />
      <div id={id} role="listbox" aria-label={t('palette.label')} className={styles.list}>
        {[...new Set(shown.map(({ group }) => group))].map((group) => (
          <div key={group} role="group" aria-label={word('found', group)}>
            <div className={styles.group} aria-hidden="true">
              {word('found', group)}
            </div>
            {shown
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <div
                  key={entry.key}
                  id={idOf(entry)}
                  role="option"
                  aria-selected={entry === chosen}
                  aria-disabled={entry.former || undefined}
                  className={styles.entry}
                  onPointerMove={() => setWanted(entry.key)}
                  onMouseDown={(event) => event.preventDefault()} // the field keeps the focus
                  onClick={(event) => (entry.former ? undefined : open(entry, event.ctrlKey || event.metaKey))}
                >
                  {entry.icon}
                  <Bdi className={styles.name}>{entry.title}</Bdi>
                  {entry.subtitle ? <Bdi className={styles.subtitle}>{entry.subtitle}</Bdi> : null}
                  {entry.state ? <span className={styles.state}>{entry.state}</span> : null}
                </div>
              ))}
          </div>
        ))}
      </div>
      {error ? <p className={styles.note}>{sentence(error)}</p> : null}
      {shown.length === 0 && !error ? (
        <p className={styles.note}>{busy ? t('palette.searching') : t('palette.none', { text })}</p>
      ) : null}
      <p className="unseen" role="status">
        {text && !busy ? t('palette.results', { count: shown.length }) : null}
      </p>
      <Keys />
    </>
  );
}

function Keys() {
  const all = [
    [['↑', '↓'], t('palette.move')],
    [['↵'], t('palette.open')],
    [['Esc'], t('palette.close')],
  ] as const;
  return (
    <div className={styles.foot} aria-hidden="true">
      {all.map(([keys, what]) => (
        <span key={what}>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
          {what}
        </span>
      ))}
    </div>
  );
}
