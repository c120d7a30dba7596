import '@/i18n/en/profile';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { Rows, type Column } from '@/components/Rows';
import { Loaded } from '@/components/States';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { moment } from '@/i18n/format';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { AccountPage } from './AccountPage';
import styles from './account.module.css';

type Session = Schemas['Session'];
const end = (id: string) => ok(api.DELETE('/api/account/sessions/{session}', { params: { path: { session: id } } }));

const columns: Column<Session>[] = [
  {
    key: 'device',
    header: t('sessions.col.device'),
    width: '30%',
    narrow: 'first',
    cell: (it) => (
      <>
        <Bdi className="strong">{it.userAgent ?? t('sessions.unknown')}</Bdi>{' '}
        {it.current ? <Tag>{t('sessions.this')}</Tag> : null}
        {it.kind === 'program' ? <Tag>{t('sessions.program')}</Tag> : null}
      </>
    ),
  },
  {
    key: 'network',
    header: t('sessions.col.network'),
    narrow: 'second',
    cell: (it) => <Bdi className="muted">{it.network}</Bdi>,
  },
  {
    key: 'since',
    header: t('sessions.col.since'),
    width: '150px',
    end: true,
    cell: (it) => <Time at={it.createdAt} />,
  },
  {
    key: 'last',
    header: t('sessions.col.last'),
    width: '150px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => <Time at={it.lastUsedAt} />,
  },
  { key: 'end', header: '', width: '96px', end: true, narrow: 'firstEnd', cell: (it) => <End it={it} /> },
];

export function Sessions() {
  const read = useQuery(queries.sessions());
  const others = read.data?.data.some(({ current }) => !current) ?? false;
  return (
    <AccountPage tab="sessions">
      <div className={styles.lead}>
        <p className="muted">
          {t('sessions.lead')} {t('sessions.until')}
        </p>
        <EndMany others={others} />
      </div>
      <Loaded read={read} what={t('sessions.what')}>
        {({ data }) => <Rows label={t('accountPage.sessions')} columns={columns} rows={data} idOf={({ id }) => id} />}
      </Loaded>
    </AccountPage>
  );
}

function End({ it }: { it: Session }) {
  const { busy, begin, end: free } = useSubmit();
  const client = useQueryClient();
  async function confirm() {
    if (!begin()) return;
    try {
      await end(it.id);
      toast(t('sessions.ended'));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
    await client.invalidateQueries({ queryKey: ['account', 'sessions'] });
    free();
  }
  if (it.current) return null;
  const device = it.userAgent ?? t('sessions.unknown');
  return (
    <Button
      size="compact-md"
      aria-label={t('sessions.endOf', { device, when: moment(it.lastUsedAt) })}
      aria-disabled={busy || undefined}
      onClick={() => (busy ? undefined : void confirm())}
    >
      {t('sessions.end')}
    </Button>
  );
}

function EndMany({ others }: { others: boolean }) {
  const [asked, setAsked] = useState<'others' | 'everywhere' | null>(null);
  const client = useQueryClient();
  async function endOthers() {
    try {
      await ok(api.DELETE('/api/account/sessions', { params: { query: { others: true } } }));
      toast(t('sessions.others.done'));
    } finally {
      await client.invalidateQueries({ queryKey: ['account', 'sessions'] });
    }
  }
  async function endAll() {
    await ok(api.DELETE('/api/account/sessions'));
    await session.signOut({ everywhere: true });
  }
  return (
    <div className={styles.buttons}>
      {others ? <Button onClick={() => setAsked('others')}>{t('sessions.others')}</Button> : null}
      <Button onClick={() => setAsked('everywhere')}>{t('sessions.everywhere')}</Button>
      <ConfirmDialog
        opened={asked === 'others'}
        onClose={() => setAsked(null)}
        title={t('sessions.others.title')}
        body={t('sessions.others.body')}
        button={t('sessions.others.button')}
        onConfirm={endOthers}
      />
      <ConfirmDialog
        opened={asked === 'everywhere'}
        onClose={() => setAsked(null)}
        title={t('sessions.everywhere.title')}
        body={t('sessions.everywhere.body')}
        button={t('sessions.everywhere.button')}
        onConfirm={endAll}
      />
    </div>
  );
}
