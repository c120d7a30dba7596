// The question before a buyer is erased: their name is typed once more.
import '@/i18n/en/customers';
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { t, T } from '@/i18n/text';
import { isTyped } from '@/i18n/typed';
import { erase, type Buyer, type By } from './buyer';
import styles from './customers.module.css';

type Props = { by: By; it: Buyer; onClose: () => void; onErasing: (job: string) => void };

export function EraseBuyer({ by, it, onClose, onErasing }: Props) {
  const [typed, setTyped] = useState('');
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t('erasure.title')}
      body={
        <ul className={styles.list}>
          <li>{t(it.totalIsExact ? 'erasure.orders' : 'erasure.ordersMany', { count: it.total })}</li>
          <li>{t('erasure.work')}</li>
          <li>{t('erasure.stays')}</li>
        </ul>
      }
      button={t('erasure.button')}
      danger
      ready={isTyped(typed, by.value, (text) => text.toLowerCase())}
      onConfirm={async () => onErasing((await erase(by)).id)}
    >
      <TextInput
        label={<T k="erasure.type" values={{ name: <Bdi className="strong">{by.value}</Bdi> }} />}
        size="md"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
    </ConfirmDialog>
  );
}
