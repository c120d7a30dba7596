// A search for a buyer by name. The name is in no address, and the result is forgotten with the page.
import '@/i18n/en/customers';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { changed } from '../search';
import { buyerQuery, NAMES, type By } from './buyer';
import { Erasure } from './Erasure';
import { Found } from './Found';
import styles from './customers.module.css';

const route = getRouteApi('/inside/account/customers');

export function OneBuyer() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState<By['name']>('email');
  const [typed, setTyped] = useState('');
  const [by, setBy] = useState<By | null>(null);
  const read = useQuery(buyerQuery(by));
  const follow = (job: string | undefined) =>
    void navigate({
      to: '/account/customers',
      search: changed(search, { erasing: job }),
      replace: true,
      resetScroll: false,
    });
  function submit(event: FormEvent) {
    event.preventDefault();
    const next = { name, value: typed.trim() };
    if (!next.value) return;
    if (by?.name === next.name && by.value === next.value) void client.invalidateQueries({ queryKey: ['buyer'] });
    setBy(next);
  }
  return (
    <>
      <p className="muted">{t('buyerData.lead')}</p>
      <form className={styles.find} role="search" onSubmit={submit}>
        <SegmentedControl
          aria-label={t('buyerData.by')}
          value={name}
          onChange={(next) => setName(next as By['name'])}
          data={NAMES.map((value) => ({ value, label: t(`buyerData.${value}`) }))}
        />
        <TextInput
          className={styles.name}
          aria-label={t(`buyerData.${name}`)}
          type={name === 'email' ? 'email' : 'text'}
          maxLength={name === 'email' ? 320 : 500}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" size="md" disabled={!typed.trim()} aria-disabled={read.isFetching || undefined}>
          {read.isFetching ? t('buyerData.finding') : t('buyerData.find')}
        </Button>
      </form>
      <p className={styles.hint}>{t('buyerData.hint')}</p>
      {search.erasing ? <Erasure id={search.erasing} onClose={() => follow(undefined)} /> : null}
      {by ? (
        <div aria-live="polite">
          <Loaded read={read} what={t('buyerData.what')} skeleton={<SkeletonRows rows={2} />}>
            {(it) => <Found by={by} it={it} onErasing={follow} />}
          </Loaded>
        </div>
      ) : null}
    </>
  );
}
