import '@/i18n/en/profile';
import { ActionIcon } from '@mantine/core';
import { IconDots, IconHistory, IconLock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Pager } from '@/components/Pager';
import { Rows, type Column } from '@/components/Rows';
import { EmptyState, Loaded, NoMatch } from '@/components/States';
import { Time, useNow } from '@/components/Time';
import { moment } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { changed, cursorsOf } from '../search';
import { AccountPage } from './AccountPage';
import { auditQuery } from './audit_filters';
import { AuditFilters } from './AuditFilters';
import { Actor, Deed } from './Deed';
import { changeWords, detailOf } from './detail';

const route = getRouteApi('/inside/account/audit');
const PAGE = 50;
type Entry = Schemas['AuditEntry'];
const AuditEntry = lazy(() => import('./AuditEntry').then((part) => ({ default: part.AuditEntry })));

export function Audit() {
  const owner = useIsOwner();
  return (
    <AccountPage tab="audit">
      {owner === false ? (
        <EmptyState icon={IconLock} title={t('audit.owners')} body={t('audit.ownersText')} />
      ) : owner ? (
        <Log />
      ) : null}
    </AccountPage>
  );
}

function Log() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const now = useNow(60_000);
  const [shown, setShown] = useState<Entry | null>(null);
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const filter = auditQuery(search, now);
  const read = useQuery(queries.audit({ limit: PAGE, ...filter, ...(cursor ? { cursor } : {}) }));
  const go = (change: Record<string, string | undefined>) =>
    void navigate({ to: '/account/audit', search: changed(search, change), resetScroll: false });
  const at = (pages: string[]) => go(pages.length > 0 ? { at: pages.join('.') } : {});
  const rows = read.data?.data ?? [];
  const next = read.data?.nextCursor;
  const none =
    Object.keys(filter).length > 0 ? (
      <NoMatch onClear={() => go({ actor: undefined, action: undefined, target: undefined, when: undefined })} />
    ) : (
      <EmptyState icon={IconHistory} title={t('audit.none.title')} body={t('audit.none.body')} />
    );
  return (
    <>
      <p className="muted">{t('audit.lead')}</p>
      <AuditFilters search={search} onChange={go} />
      <Loaded read={read} what={t('audit.what')}>
        {() =>
          rows.length > 0 ? (
            <Rows
              label={t('accountPage.audit')}
              columns={columnsOf(setShown)}
              rows={rows}
              idOf={({ id }) => id}
              busy={read.isPlaceholderData}
            />
          ) : next ? (
            <p className="muted">{t('list.searchedSoFar')}</p>
          ) : (
            none
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={rows.length}
        onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => at([...cursors, next]) : undefined}
      />
      <Suspense>{shown ? <AuditEntry it={shown} onClose={() => setShown(null)} /> : null}</Suspense>
    </>
  );
}

// "role: member → owner", or what else is known.
const changesOf = (it: Entry) => it.changes?.map(changeWords).join(', ') || detailOf(it);

const columnsOf = (onShow: (it: Entry) => void): Column<Entry>[] => [
  {
    key: 'who',
    header: t('audit.col.who'),
    width: '20%',
    narrow: 'second',
    cell: (it) => <Actor actor={it.actor} name={it.actorName} />,
  },
  { key: 'what', header: t('audit.col.what'), width: '34%', narrow: 'first', cell: (it) => <Deed it={it} /> },
  {
    key: 'detail',
    header: t('audit.col.detail'),
    cell: (it) => (
      <Bdi className="muted" title={changesOf(it)}>
        {changesOf(it)}
      </Bdi>
    ),
  },
  {
    key: 'when',
    header: t('audit.col.when'),
    width: '188px',
    end: true,
    narrow: 'secondEnd',
    cell: (it) => <Time at={it.at} />,
  },
  {
    key: 'more',
    header: '',
    width: '44px',
    end: true,
    narrow: 'firstEnd',
    cell: (it) => (
      <ActionIcon aria-label={t('audit.more', { when: moment(it.at) })} onClick={() => onShow(it)}>
        <IconDots size={17} />
      </ActionIcon>
    ),
  },
];
