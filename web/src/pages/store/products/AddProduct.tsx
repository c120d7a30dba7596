// Adds a product that no order has named yet, by a value of the shop.
import '@/i18n/en/more_matches';
import '@/i18n/en/stores';
import { Button, Select, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { Dialog } from '@/components/Dialogs';
import dialog from '@/components/Dialogs.module.css';
import { t } from '@/i18n/text';
import { MATCH_TYPES, type MatchType } from '@/vocabulary/store';
import { keyOf, type Key } from './draft';
import styles from './products.module.css';

type Props = {
  opened: boolean;
  taken: (key: Key) => boolean;
  onClose: () => void;
  onAdd: (matchType: MatchType, matchValue: string) => void;
};

export function AddProduct({ opened, taken, onClose, onAdd }: Props) {
  const [matchType, setType] = useState<MatchType>('sku');
  const [value, setValue] = useState('');
  const matchValue = value.trim();
  const exists = matchValue !== '' && taken(keyOf({ matchType, matchValue }));
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!matchValue || exists) return;
    onAdd(matchType, matchValue);
    setValue('');
    onClose();
  }
  return (
    <Dialog opened={opened} onClose={onClose} title={t('add.title')}>
      <form className={styles.form} onSubmit={submit}>
        <Select
          label={t('add.type')}
          description={t('add.order')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          size="md"
          data={MATCH_TYPES.map((type) => ({ value: type, label: t(`match.${type}`) }))}
          value={matchType}
          onChange={(type) => setType((type as MatchType | null) ?? 'sku')}
        />
        <TextInput
          label={t(`match.${matchType}`)}
          size="md"
          maxLength={200}
          value={value}
          error={exists ? t('add.exists') : undefined}
          onChange={(event) => setValue(event.currentTarget.value)}
          data-autofocus
        />
        <div className={dialog.buttons}>
          <Button size="lg" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button type="submit" variant="filled" size="lg" disabled={!matchValue || exists}>
            {t('add.button')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
