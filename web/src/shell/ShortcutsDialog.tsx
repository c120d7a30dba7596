import { Switch } from '@mantine/core';
import { useState } from 'react';
import { sentence } from '@/api/errors';
import { changePreferences } from '@/api/preferences';
import { Dialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t, type TextKey } from '@/i18n/text';
import { MAC } from './mac';
import { areShortcutsOn, turnShortcuts } from './shortcuts';
import styles from './shortcuts.module.css';

const CONTROL = MAC ? '⌘' : 'Ctrl';
const LIST: [string[], TextKey][] = [
  [[`${CONTROL} K`], 'keys.palette'],
  [['/'], 'keys.search'],
  [['J', '↓'], 'keys.next'],
  [['K', '↑'], 'keys.previous'],
  [['Enter'], 'keys.open'],
  [[`${CONTROL} Enter`], 'keys.tab'],
  [['[', ']'], 'keys.views'],
  [['X'], 'keys.select'],
  [['A'], 'keys.selectAll'],
  [['R'], 'keys.retry'],
  [['E'], 'keys.username'],
  [['Esc'], 'keys.close'],
  [['?'], 'keys.help'],
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(areShortcutsOn);
  return (
    <Dialog opened onClose={onClose} title={t('keys.title')} size={420}>
      <dl className={styles.list}>
        {LIST.map(([keys, what]) => (
          <div key={what}>
            <dt>{t(what as 'keys.search')}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Switch
        label={t('keys.on')}
        checked={on}
        onChange={(event) => {
          const on = event.currentTarget.checked;
          turnShortcuts(on);
          setOn(on);
          changePreferences(() => ({ shortcutsOff: !on })).catch((error: unknown) =>
            toast(sentence(error), { tone: 'bad' }),
          );
        }}
      />
    </Dialog>
  );
}
