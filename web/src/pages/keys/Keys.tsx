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
import { Pager } from '@/components/Pager';
import { SecretOnce } from '@/components/SecretOnce';
import { EmptyState, Loaded } from '@/components/States';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { changed, cursorsOf } from '../search';
import { About } from './About';
import { Example } from './Example';
import { KeyRows } from './KeyRows';
import styles from './keys.module.css';

type Issued = Schemas['IssuedApiKey'];
const PAGE = 50; // of the inactive tokens

const NewKey = lazy(() => import('./NewKey').then((part) => ({ default: part.NewKey })));

const route = getRouteApi('/inside/keys');

export function Keys() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const active = useQuery(queries.activeKeys());
  const inactive = useQuery(queries.inactiveKeys({ limit: PAGE, ...(cursor ? { cursor } : {}) }));
  const hasInactive = cursors.length > 0 || (inactive.data?.data.length ?? 0) > 0;
  const next = inactive.data?.nextCursor;
  const client = useQueryClient();
  const owner = useIsOwner();
  const making = owner === true && search.new === 'token';
  const setMaking = (now: boolean) =>
    void navigate({ to: '/keys', search: changed(search, { new: now ? 'token' : undefined }), replace: !now });
  const at = (pages: string[]) =>
    void navigate({
      to: '/keys',
      search: changed(search, { at: pages.join('.') }),
      resetScroll: false,
    });
  const [issued, setIssued] = useState<Issued | null>(null);
  const show = (key: Issued) => {
    setMaking(false);
    setIssued(key);
    void client.invalidateQueries({ queryKey: ['keys'] });
  };
  const empty = active.data?.data.length === 0 && inactive.data && !hasInactive;
  const create = owner ? (
    <Button variant="filled" leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
      {t('keysPage.create')}
    </Button>
  ) : null;
  return (
    <>
      <PageHeader title={t('keysPage.title')} lead={t('keysPage.lead')} actions={empty ? null : create} />
      {owner === false ? (
        <div className={styles.owners}>
          <ForOwners>{t('keysPage.owners')}</ForOwners>
        </div>
      ) : null}
      <Loaded read={active} what={t('keysPage.what')}>
        {({ data }) =>
          data.length > 0 ? (
            <KeyRows label={t('keysPage.title')} rows={data} onIssued={show} />
          ) : hasInactive ? (
            <p className="muted">{t('keysPage.noneActive')}</p>
          ) : inactive.data ? (
            <EmptyState
              icon={IconKey}
              title={t('keysPage.empty.title')}
              body={t('keysPage.empty.body')}
              action={create}
            />
          ) : null
        }
      </Loaded>
      {hasInactive || inactive.error ? (
        <section className={styles.part}>
          <h2>{t('keysPage.inactiveTitle')}</h2>
          <Loaded read={inactive} what={t('keysPage.whatInactive')}>
            {({ data }) => (
              <KeyRows
                label={t('keysPage.inactiveTitle')}
                rows={data}
                busy={inactive.isPlaceholderData}
                onIssued={show}
              />
            )}
          </Loaded>
          <Pager
            page={cursors.length + 1}
            size={PAGE}
            shown={inactive.data?.data.length ?? 0}
            onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
            onOlder={next ? () => at([...cursors, next]) : undefined}
          />
        </section>
      ) : null}
      {active.data?.data.length || hasInactive ? <p className={styles.foot}>{t('keysPage.foot')}</p> : null}
      <Suspense>{making ? <NewKey opened onClose={() => setMaking(false)} onIssued={show} /> : null}</Suspense>
      <SecretOnce
        secret={issued?.secret ?? null}
        title={t('keysPage.created.title')}
        lead={t('secret.once')}
        env="PRESETBRIDGE_API_KEY"
        onDone={() => setIssued(null)}
      >
        {issued ? (
          <>
            <About it={issued} />
            <Example it={issued} />
          </>
        ) : null}
      </SecretOnce>
    </>
  );
}
