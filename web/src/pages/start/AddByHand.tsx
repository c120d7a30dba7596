// A product that no order has named yet, by its title or SKU.
import '@/i18n/en/guide';
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { t } from '@/i18n/text';
import type { Match } from '../store/products/draft';
import styles from './start.module.css';

export function AddByHand({ onAdd }: { onAdd: (match: Match) => void }) {
  const [value, setValue] = useState('');
  return (
    <form
      className={styles.line}
      onSubmit={(event) => {
        event.preventDefault();
        const matchValue = value.trim();
        // A value with spaces is a title; a SKU has none.
        if (matchValue)
          onAdd({ matchType: /\s/.test(matchValue) ? 'title' : 'sku', matchValue, ignored: false, files: [] });
        setValue('');
      }}
    >
      <TextInput
        className={styles.field}
        aria-label={t('guide.mapping.product')}
        placeholder={t('guide.mapping.product')}
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
