// Invitations that nobody has used yet.
import '@/i18n/en/people';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { Rows, type Column } from '@/components/Rows';
import { Loaded, SkeletonRows } from '@/components/States';
import { Time } from '@/components/Time';
import { toast } from '@/components/toasts';
import { moment } from '@/i18n/format';
import { t } from '@/i18n/text';
import { roleWord } from './roles';
import styles from './people.module.css';

type Invitation = Schemas['Invitation'];
const nameOf = (it: Invitation) => it.note ?? t('invitations.noNote');

export function Invitations({ people }: { people: Schemas['Person'][] }) {
  const read = useQuery(queries.invitations());
  const [asked, setAsked] = useState<Invitation | null>(null);
  const client = useQueryClient();
  const columns: Column<Invitation>[] = [
    {
      key: 'for',
      header: t('invitations.col.for'),
      width: '34%',
      narrow: 'first',
      cell: (it) => <Bdi className={it.note ? 'strong' : 'muted'}>{nameOf(it)}</Bdi>,
    },
    { key: 'role', header: t('people.col.role'), width: '84px', narrow: 'second', cell: (it) => roleWord(it.role) },
    {
      key: 'by',
      header: t('invitations.col.by'),
      cell: (it) => {
        const by = people.find(({ id }) => id === it.createdBy);
        return (
          <Bdi className="muted" title={it.createdBy}>
            {by?.current ? t('people.you') : (by?.email ?? it.createdBy)}
          </Bdi>
        );
      },
    },
    {
      key: 'until',
      header: t('invitations.col.until'),
      width: '150px',
      end: true,
      narrow: 'secondEnd',
      cell: (it) => <Time at={it.expiresAt} />,
    },
    {
      key: 'revoke',
      header: '',
      width: '96px',
      end: true,
      narrow: 'firstEnd',
      cell: (it) => (
        <Button
          size="compact-md"
          aria-label={t('invitations.revokeOf', { name: nameOf(it), when: moment(it.expiresAt) })}
          onClick={() => setAsked(it)}
        >
          {t('invitations.revoke')}
        </Button>
      ),
    },
  ];
  return (
    <section className={styles.part} aria-labelledby="invitations">
      <h2 id="invitations">{t('invitations.title')}</h2>
      <Loaded read={read} what={t('invitations.what')} skeleton={<SkeletonRows rows={2} />}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows label={t('invitations.title')} columns={columns} rows={data} idOf={({ id }) => id} />
          ) : (
            <p className="muted">{t('invitations.none')}</p>
          )
        }
      </Loaded>
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={t('invitations.revoke.title', { name: asked ? nameOf(asked) : '' })}
        body={t('invitations.revoke.body')}
        button={t('invitations.revoke')}
        danger
        onConfirm={async () => {
          if (!asked) return;
          const params = { path: { invitation: asked.id } };
          await ok(api.DELETE('/api/invitations/{invitation}', { params })).finally(() =>
            client.invalidateQueries({ queryKey: ['people'] }),
          );
          toast(t('invitations.revoked'));
        }}
      />
    </section>
  );
}
