// One API token: its permissions, and its use.
import '@/i18n/en/account';
import '@/i18n/en/usage';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { PageHeader } from '@/components/PageHeader';
import { SecretOnce } from '@/components/SecretOnce';
import { Loaded, SkeletonRows } from '@/components/States';
import { Tag } from '@/components/Tag';
import { useNow } from '@/components/Time';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { About, expired } from '../keys/About';
import { Example } from '../keys/Example';
import { KeyActions } from '../keys/KeyActions';
import { Missing } from '../missing/Missing';
import { changed, type Search } from '../search';
import { Charts } from '../usage/Charts';
import { periodOf, queryOf } from '../usage/period';
import { PeriodChoice } from '../usage/PeriodChoice';
import styles from './key.module.css';
import { KeyFacts } from './KeyFacts';

const route = getRouteApi('/inside/keys/$id');
type Key = Schemas['ApiKey'];
type Issued = Schemas['IssuedApiKey'];

export function KeyPage() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const read = useQuery({ ...queries.key(id), refetchInterval: false }); // its use is polled, and reads it too
  if (isMissing(read.error))
    return <Missing what={t('keyPage.missing')} back={{ label: t('keyPage.all'), to: '/keys' }} />;
  return (
    <div className={styles.page}>
      <Loaded read={read} page what={t('keyPage.what')} skeleton={<SkeletonRows rows={6} height={56} />}>
        {(it) => <Content key={it.id} it={it} search={search} />}
      </Loaded>
    </div>
  );
}

function Content({ it, search }: { it: Key; search: Search }) {
  const now = useNow(60_000);
  const owner = useIsOwner();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [issued, setIssued] = useState<Issued | null>(null);
  const period = periodOf(search);
  const usage = useQuery(queries.keyUsage(it.id, queryOf(period, now)));
  return (
    <>
      <PageHeader
        title={it.name}
        crumbs={[{ label: t('keysPage.title'), to: '/keys' }, { label: it.name }]}
        meta={
          <>
            <code>{it.preview}</code>
            {it.active && !expired(it) ? null : (
              <span>
                <Tag>{t(it.active ? 'keysPage.expired' : 'keysPage.inactive')}</Tag>
              </span>
            )}
            {it.active && !expired(it) ? <Hour it={it} /> : null}
          </>
        }
        actions={
          owner ? (
            <KeyActions
              it={it}
              page
              onIssued={(key) => {
                setIssued(key);
                void client.invalidateQueries({ queryKey: ['keys'] });
              }}
            />
          ) : null
        }
      />
      <div className={styles.columns}>
        <div className={styles.left}>
          <PeriodChoice
            value={period}
            onChange={(next) =>
              void navigate({ to: '/keys/$id', params: { id: it.id }, search: changed(search, { period: next }) })
            }
          />
          <Loaded read={usage} what={t('usage.what')} skeleton={<SkeletonRows rows={8} />}>
            {(data) => <Charts it={data} period={period} search={search} file={t('usage.file')} />}
          </Loaded>
        </div>
        <KeyFacts it={it} />
      </div>
      <SecretOnce
        secret={issued?.secret ?? null}
        title={t('keysPage.created.title')}
        lead={t('secret.once')}
        env="PRESETBRIDGE_API_KEY"
        onDone={() => {
          const next = issued?.id;
          setIssued(null);
          if (next) void navigate({ to: '/keys/$id', params: { id: next }, search: {} });
        }}
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

// The requests of the last hour, and the limit for an hour.
function Hour({ it }: { it: Key }) {
  const share = Math.min(1, it.usedThisHour / Math.max(1, it.rateLimit));
  return (
    <span className={styles.hour} title={t('keyPage.hourLabel', { n: it.usedThisHour, total: it.rateLimit })}>
      {t('keyPage.hour')}
      <svg width="64" height="6" aria-hidden="true">
        <rect className={styles.rail} width="64" height="6" rx="3" />
        <rect className={styles.used} data-full={share === 1 || undefined} width={64 * share} height="6" rx="3" />
      </svg>
      <span className="tabular">{t('keyPage.hourOf', { n: it.usedThisHour, total: it.rateLimit })}</span>
    </span>
  );
}
