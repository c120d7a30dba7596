// A product that no order has named yet, by its title or SKU.
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useState } from 'react';
import { t } from '@/i18n/text';
import type { Match } from '../store/products/draft';
import styles from './start.module.css';

export function AddByHand({ onAdd }: { onAdd: (match: Match) => void }) {
  const [value, setValue] = useState('');
  const [matchType, setType] = useState<'title' | 'sku'>('title');
  return (
    <form
      className={styles.line}
      onSubmit={(event) => {
        event.preventDefault();
        const matchValue = value.trim();
        if (matchValue) onAdd({ matchType, matchValue, ignored: false, files: [] });
        setValue('');
      }}
    >
      <SegmentedControl
        aria-label={t('guide.mapping.by')}
        value={matchType}
        onChange={(type) => setType(type === 'sku' ? 'sku' : 'title')}
        data={[
          { value: 'title', label: t('match.title') },
          { value: 'sku', label: t('match.sku') },
        ]}
      />
      <TextInput
        className={styles.field}
        aria-label={t(`guide.mapping.of.${matchType}`)}
        placeholder={t(`guide.mapping.of.${matchType}`)}
        size="md"
        maxLength={200}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <Button type="submit" size="md" disabled={!value.trim()}>
        {t('guide.mapping.add')}
      </Button>
    </form>
  );
}
