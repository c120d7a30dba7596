import '@/i18n/en/presets';
import { Button } from '@mantine/core';
import { IconCloud, IconRefresh, IconWaveSine } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, ok } from '@/api/client';
import { ApiError } from '@/api/errors';
import { queries } from '@/api/queries';
import { ForOwners } from '@/components/ForOwners';
import { PageHeader } from '@/components/PageHeader';
import { Pager } from '@/components/Pager';
import { Panel } from '@/components/Panel';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { Tabs } from '@/components/Tabs';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { t } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { SearchField } from '../deliveries/FilterBar';
import { changed, cursorsOf, type Search } from '../search';
import { PresetRows } from './PresetRows';
import styles from './presets.module.css';

const route = getRouteApi('/inside/presets');
const PAGE = 50;

export function Presets() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const gone = search.view === 'gone';
  const text = search.q?.trim().slice(0, 200) ?? '';
  const cursors = cursorsOf(search);
  const cursor = cursors.at(-1);
  const read = useQuery(
    queries.presetPage({
      limit: PAGE,
      ...(gone ? { gone } : {}),
      ...(text ? { search: text } : {}),
      ...(cursor ? { cursor } : {}),
    }),
  );
  const lost = useQuery(queries.gonePresets());
  const go = (next: Search, replace = false) => void navigate({ to: '/presets', search: next, replace });
  const at = (next: string[]) => go({ ...changed(search, {}), ...(next.length > 0 ? { at: next.join('.') } : {}) });
  const missing = lost.data?.length ?? 0;
  if (read.error instanceof ApiError && read.error.code === 'CREDENTIALS_MISSING') return <Unconnected />;
  return (
    <>
      <PageHeader title={t('presets.title')} lead={t('presets.lead')} actions={<Refresh />} />
      {missing > 0 && !gone ? (
        <div className={styles.banner}>
          <Panel tone="amber">
            {t('presets.gone.banner', { count: missing })}{' '}
            <Link className="link" to="/presets" search={{ view: 'gone' }}>
              {t('presets.gone.show')}
            </Link>
          </Panel>
        </div>
      ) : null}
      <Tabs
        label={t('presets.title')}
        tabs={(['all', 'gone'] as const).map((view) => ({
          label: t(`presets.tab.${view}`),
          count: view === 'gone' && missing > 0 ? String(missing) : undefined,
          active: (view === 'gone') === gone,
          link: { to: '/presets', search: changed(search, { view: view === 'gone' ? view : undefined }) },
        }))}
      />
      <div className={styles.bar} role="group" aria-label={t('filter.list')}>
        <SearchField
          label={t('presets.search')}
          value={search.q ?? ''}
          onChange={(q) => go(changed(search, { q: q || undefined }), true)}
        />
      </div>
      <Loaded read={read} what={t('presets.what')} skeleton={<SkeletonRows rows={12} />}>
        {({ data }) =>
          data.length > 0 ? (
            <PresetRows rows={data} busy={read.isPlaceholderData} />
          ) : (
            <EmptyState
              icon={IconWaveSine}
              {...(text
                ? {
                    title: t('presets.none.title'),
                    body: t('presets.none.body'),
                    action: (
                      <Button onClick={() => go(changed(search, { q: undefined }))}>{t('action.clearSearch')}</Button>
                    ),
                  }
                : gone
                  ? { title: t('presets.noneGone.title'), body: t('presets.noneGone.body') }
                  : { title: t('presets.empty.title'), body: t('presets.empty.body') })}
            />
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={read.data?.data.length ?? 0}
        onNewer={cursors.length > 0 ? () => at(cursors.slice(0, -1)) : undefined}
        onOlder={read.data?.nextCursor ? () => at([...cursors, read.data.nextCursor!]) : undefined}
        words={{ newer: t('list.previous'), older: t('list.next') }}
      />
    </>
  );
}

// Reads the list anew from the cloud platform.
function Refresh() {
  const client = useQueryClient();
  const { busy, button } = useAct(async () => {
    await ok(api.GET('/api/presets', { params: { query: { refresh: true, limit: 1 } } }));
    await client.invalidateQueries({ queryKey: ['presets'] });
    toast(t('presets.refreshed'));
  });
  return (
    <Button leftSection={<IconRefresh size={16} />} {...button}>
      {busy ? t('presets.refreshing') : t('presets.refresh')}
    </Button>
  );
}

function Unconnected() {
  const owner = useIsOwner();
  return (
    <>
      <PageHeader title={t('presets.title')} lead={t('presets.lead')} />
      <EmptyState
        icon={IconCloud}
        title={t('presets.unconnected.title')}
        body={t('presets.unconnected.body')}
        action={
          owner === false ? (
            <ForOwners>{t('presets.unconnected.owners')}</ForOwners>
          ) : (
            <Button component={Link} to="/cloud" variant="filled">
              {t('presets.unconnected.action')}
            </Button>
          )
        }
      />
    </>
  );
}
