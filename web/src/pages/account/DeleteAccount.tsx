// The end of an account, and of all personal data in it.
import '@/i18n/en/profile';
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { t, T } from '@/i18n/text';
import { isTyped } from '@/i18n/typed';
import { session } from '@/session';
import styles from './account.module.css';

export function DeleteAccount({ name }: { name: string }) {
  const [asked, setAsked] = useState(false);
  const [typed, setTyped] = useState('');
  const credits = useQuery(queries.credits()).data;
  const left = credits && credits.available + credits.held; // what is on hold is not spent any more
  return (
    <section className={styles.part}>
      <div>
        <h2>{t('deletion.title')}</h2>
        <p className="muted">{t('deletion.lead')}</p>
      </div>
      <div>
        <Button size="md" onClick={() => setAsked(true)}>
          {t('deletion.ask')}
        </Button>
      </div>
      <ConfirmDialog
        opened={asked}
        onClose={() => {
          setAsked(false);
          setTyped('');
        }}
        title={t('deletion.confirm', { name })}
        body={
          <ul className={styles.list}>
            <li>{t('deletion.people')}</li>
            <li>{t('deletion.work')}</li>
            <li>{t('deletion.buyers')}</li>
            {left === undefined ? (
              <li>{t('deletion.credits')}</li>
            ) : left > 0 ? (
              <li>{t('deletion.creditsLeft', { count: left })}</li>
            ) : null}
          </ul>
        }
        button={t('deletion.button')}
        danger
        ready={isTyped(typed, name)}
        onConfirm={async () => {
          await ok(api.POST('/api/account/delete', { body: { name } }));
          await session.signOut();
        }}
      >
        <TextInput
          label={<T k="deletion.type" values={{ name: <Bdi className="strong">{name}</Bdi> }} />}
          size="md"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
      </ConfirmDialog>
    </section>
  );
}
