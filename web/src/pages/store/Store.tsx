import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Outlet, useLocation } from '@tanstack/react-router';
import { TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { api, ok } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { ConfirmDialog } from '@/components/Dialogs';
import { PageHeader } from '@/components/PageHeader';
import { Loaded } from '@/components/States';
import { Tabs } from '@/components/Tabs';
import { Tag } from '@/components/Tag';
import { useNow } from '@/components/Time';
import { toast } from '@/components/toasts';
import { since } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { kindOf, type Store } from '@/vocabulary/store';
import { Missing } from '../missing/Missing';
import { changed } from '../search';
import { StateText } from '../stores/StoreRows';
import { useLostMatches } from './products/lost';
import { Refused } from './Refused';

const route = getRouteApi('/inside/integrations/stores/$id');
const TABS = ['products', 'deliveries', 'connection', 'settings'] as const;
const number = new Intl.NumberFormat('en');

export function StorePage() {
  const { id } = route.useParams();
  const read = useQuery(queries.store(id));
  if (isMissing(read.error)) return <Missing body={t('store.missing')} />;
  return (
    <Loaded read={read} page what={t('stores.what')}>
      {(it) => <Content key={it.id} it={it} />}
    </Loaded>
  );
}

function Content({ it }: { it: Store }) {
  const now = useNow();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const deliveries = useQuery(queries.deliveryCount({ integrationId: it.id }));
  const needs = useQuery(queries.deliveryCount({ integrationId: it.id, needsAttention: true }));
  const toMatch = it.counts.unmappedProducts + useLostMatches(it.id).count;
  const counts: Partial<Record<(typeof TABS)[number], string>> = {
    products: toMatch > 0 ? t('store.tab.unmapped', { count: toMatch }) : undefined,
    deliveries: deliveries.data?.count === undefined ? undefined : number.format(deliveries.data.count),
  };
  const tab = TABS.find((one) => path.endsWith(`/${one}`));
  return (
    <>
      <PageHeader
        title={it.name}
        page={tab ? `${isolated(it.name)}, ${t(`store.tab.${tab}`)}` : it.name}
        crumbs={[{ label: t('stores.title'), to: '/integrations/stores' }, { label: it.name }]}
        meta={
          <>
            <StateText it={it} />
            <span>{word('shop', kindOf(it))}</span>
            {it.lastOrderAt ? <span>{t('store.lastOrder', { when: since(it.lastOrderAt, now) })}</span> : null}
            {it.settings.hold === 'all' ? (
              <span>
                <Tag>{t('settings.hold')}</Tag>
              </span>
            ) : null}
            {needs.data?.count ? <span className="red">{t('nav.needYou', { count: needs.data.count })}</span> : null}
          </>
        }
        actions={it.archivedAt === null ? <TestOrder it={it} /> : undefined}
      />
      <Refused it={it} />
      <Tabs
        label={it.name}
        tabs={TABS.map((one) => ({
          label: t(`store.tab.${one}`),
          count: counts[one],
          active: one === tab,
          link: { to: `/integrations/stores/$id/${one}`, params: { id: it.id }, search: {} },
        }))}
      />
      <Outlet />
    </>
  );
}

function TestOrder({ it }: { it: Store }) {
  const search = route.useSearch();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [pressed, setPressed] = useState(false);
  const left = useRef(false); // for the delivery's page
  const [username, setUsername] = useState('');
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const close = () => {
    setPressed(false);
    if (search.test && !left.current)
      void navigate({ to: path, search: changed(search, { test: undefined }), replace: true });
  };
  async function send() {
    const target = username.trim();
    const answer = await ok(
      api.POST('/api/integrations/{integration}/test-order', {
        params: { path: { integration: it.id } },
        body: target ? { targetUsername: target } : {},
      }),
    );
    void client.invalidateQueries({ queryKey: ['deliveries'] });
    left.current = answer.deliveryId !== undefined;
    if (answer.deliveryId) await navigate({ to: '/deliveries/$id', params: { id: answer.deliveryId }, search: {} });
    else toast(t('store.test.ignored', { reason: word('reason', answer.reason ?? answer.status) }), { tone: 'bad' });
  }
  return (
    <>
      <Button onClick={() => setPressed(true)}>{t('store.test')}</Button>
      <ConfirmDialog
        opened={pressed || search.test === 'order'}
        onClose={close}
        title={t('store.test.title')}
        body={t('store.test.body')}
        button={t('store.test.button')}
        onConfirm={send}
      >
        <TextInput
          label={t('store.test.username')}
          description={t('store.test.usernameHint')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          size="md"
          maxLength={200}
          spellCheck={false}
          autoCapitalize="none"
          leftSection={<span className="quiet">{'@'}</span>}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
      </ConfirmDialog>
    </>
  );
}
