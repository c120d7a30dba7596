// Which presets are taken back.
import '@/i18n/en/delivery';
import { Checkbox } from '@mantine/core';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import type { Holder } from './holders';
import styles from './panels.module.css';

type Props = { items: Holder['items']; value: string[]; onChange: (ids: string[]) => void };

export function ChoosePresets({ items, value, onChange }: Props) {
  return (
    <Checkbox.Group label={t('facts.presets')} value={value} onChange={onChange}>
      <div className={styles.choice}>
        {items.map(({ id, name, fileId }) => (
          <Checkbox key={id} value={id} label={<Bdi>{name || fileId}</Bdi>} />
        ))}
      </div>
    </Checkbox.Group>
  );
}
