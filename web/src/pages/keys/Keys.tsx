import '@/i18n/en/account';
import { Button } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { ForOwners } from '@/components/ForOwners';
import { PageHeader } from '@/components/PageHeader';
import { Rows, type Column } from '@/components/Rows';
import { SecretOnce } from '@/components/SecretOnce';
import { EmptyState, Loaded } from '@/components/States';
import { Tag } from '@/components/Tag';
import { Time } from '@/components/Time';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { hasUsual, permissionList, permissionWord } from '@/vocabulary/keys';
import { changed } from '../search';
import { About, expired } from './About';
import { KeyActions } from './KeyActions';
import styles from './keys.module.css';

type Key = Schemas['ApiKey'];
type Issued = Schemas['IssuedApiKey'];
const number = new Intl.NumberFormat('en');
const rights = (permissions: string[]) => (hasUsual(permissions) ? t('keysPage.all') : permissionList(permissions));

const NewKey = lazy(() => import('./NewKey').then((part) => ({ default: part.NewKey })));

const route = getRouteApi('/inside/keys');

export function Keys() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const read = useQuery(queries.keys());
  const client = useQueryClient();
  const owner = useIsOwner();
  const making = owner === true && search.new === 'token';
  const setMaking = (now: boolean) =>
    void navigate({ to: '/keys', search: changed(search, { new: now ? 'token' : undefined }), replace: !now });
  const [issued, setIssued] = useState<Issued | null>(null);
  const show = (key: Issued) => {
    setMaking(false);
    setIssued(key);
    void client.invalidateQueries({ queryKey: ['keys'] });
  };
  const columns: Column<Key>[] = [
    {
      key: 'name',
      header: t('keysPage.col.name'),
      width: '20%',
      narrow: 'first',
      cell: (it) => (
        <>
          <bdi className={it.active ? 'strong' : undefined}>{it.name}</bdi>{' '}
          {it.active ? expired(it) ? <Tag>{t('keysPage.expired')}</Tag> : null : <Tag>{t('keysPage.inactive')}</Tag>}
        </>
      ),
    },
    {
      key: 'token',
      header: t('keysPage.col.token'),
      width: '132px',
      narrow: 'second',
      cell: (it) => <code className="muted">{it.preview}</code>,
    },
    {
      key: 'may',
      header: t('keysPage.col.may'),
      cell: (it) => <span title={it.permissions.map(permissionWord).join('\n')}>{rights(it.permissions)}</span>,
    },
    {
      key: 'requests',
      header: t('keysPage.col.requests'),
      width: '84px',
      end: true,
      cell: (it) => number.format(it.requests),
    },
    {
      key: 'deliveries',
      header: t('keysPage.col.deliveries'),
      width: '88px',
      end: true,
      cell: (it) => number.format(it.deliveries),
    },
    {
      key: 'active',
      header: t('keysPage.col.active'),
      width: '92px',
      end: true,
      narrow: 'secondEnd',
      cell: (it) => (it.lastActiveAt ? <Time at={it.lastActiveAt} form="ago" /> : t('keysPage.never')),
    },
    {
      key: 'actions',
      header: '',
      width: '44px',
      end: true,
      narrow: 'firstEnd',
      cell: (it) => (owner ? <KeyActions it={it} onIssued={show} /> : null),
    },
  ];
  return (
    <>
      <PageHeader
        title={t('keysPage.title')}
        lead={t('keysPage.lead')}
        actions={
          owner ? (
            <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
              {t('keysPage.create')}
            </Button>
          ) : null
        }
      />
      {owner === false ? (
        <div className={styles.owners}>
          <ForOwners>{t('keysPage.owners')}</ForOwners>
        </div>
      ) : null}
      <Loaded read={read} what={t('keysPage.what')}>
        {({ data }) =>
          data.length > 0 ? (
            <>
              <Rows
                label={t('keysPage.title')}
                columns={columns}
                rows={data}
                idOf={({ id }) => id}
                linkOf={({ id }) => ({ to: '/keys/$id', params: { id }, search: {} })}
                quiet={(it) => !it.active}
              />
              <p className={styles.foot}>{t('keysPage.foot')}</p>
            </>
          ) : (
            <EmptyState icon={IconKey} title={t('keysPage.empty.title')} body={t('keysPage.empty.body')} />
          )
        }
      </Loaded>
      <Suspense>{making ? <NewKey opened onClose={() => setMaking(false)} onIssued={show} /> : null}</Suspense>
      <SecretOnce
        secret={issued?.secret ?? null}
        title={t('keysPage.created.title')}
        lead={t('secret.once')}
        env="PRESETBRIDGE_API_KEY"
        onDone={() => setIssued(null)}
      >
        {issued ? <About it={issued} /> : null}
      </SecretOnce>
    </>
  );
}
