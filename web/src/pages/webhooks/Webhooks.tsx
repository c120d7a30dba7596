import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Dialog } from '@/components/Dialogs';
import { PageHeader } from '@/components/PageHeader';
import { SecretOnce } from '@/components/SecretOnce';
import { EmptyState, Loaded, SkeletonRows } from '@/components/States';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { changed, type Search } from '../search';
import { SubscriptionRows } from './SubscriptionRows';
import { Verify } from './Verify';

const SubscriptionForm = lazy(() => import('./SubscriptionForm').then((part) => ({ default: part.SubscriptionForm })));

export function SubscriptionList({ filled = true }: { filled?: boolean }) {
  const making = useMaking();
  const read = useQuery(queries.subscriptions());
  return (
    <Loaded read={read} what={t('webhooks.what')} skeleton={<SkeletonRows rows={3} height={56} />}>
      {({ data }) =>
        data.length > 0 ? (
          <SubscriptionRows rows={data} />
        ) : (
          <EmptyState
            icon={IconWebhook}
            title={t('webhooks.empty.title')}
            body={t('webhooks.empty.body')}
            action={<AddButton filled={filled} onClick={() => making.set(true)} />}
          />
        )
      }
    </Loaded>
  );
}

// Whether the form is open stands in the address (`new=webhook`).
function useMaking() {
  const search: Search = useSearch({ strict: false });
  const path = useLocation({ select: ({ pathname }) => pathname });
  const navigate = useNavigate();
  const set = (now: boolean) =>
    void navigate({ to: path, search: changed(search, { new: now ? 'webhook' : undefined }), replace: !now });
  return { now: search.new === 'webhook', set };
}

function AddButton({ filled, onClick }: { filled: boolean; onClick: () => void }) {
  return (
    <Button variant={filled ? 'filled' : 'default'} leftSection={<IconPlus size={16} />} onClick={onClick}>
      {t('webhooks.new')}
    </Button>
  );
}

// On each page that lists webhooks, with the form and the secret. Without a webhook the button itself stands in the list's place.
export function NewWebhookButton({ filled = true }: { filled?: boolean }) {
  const { now: making, set: setMaking } = useMaking();
  const empty = useQuery(queries.subscriptions()).data?.data.length === 0;
  const [made, setMade] = useState<Schemas['SubscriptionWithSecret'] | null>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const here = useRef(false);
  useEffect(() => {
    here.current = making;
    return () => {
      here.current = false;
    };
  }, [making]);
  // The page opens at once, and shows the test as soon as there is one, to a person who is still there.
  async function openAndTest(id: string) {
    const page = { to: '/integrations/webhooks/$id', params: { id } } as const;
    await navigate({ ...page, search: {} });
    const test = api.POST('/api/webhook-subscriptions/{subscription}/test', { params: { path: { subscription: id } } });
    const event = await ok(test).then(
      ({ eventId }) => eventId,
      (error: unknown) => void toast(sentence(error), { tone: 'bad' }),
    );
    const { pathname, search: now } = router.state.location;
    const isThere = pathname === `/integrations/webhooks/${id}` && Object.keys(now).length === 0;
    if (event && isThere) await router.navigate({ ...page, search: { event }, replace: true });
  }
  return (
    <>
      {empty ? null : <AddButton filled={filled} onClick={() => setMaking(true)} />}
      <Dialog opened={making} onClose={() => setMaking(false)} title={t('newWebhook.title')} size={520}>
        <Suspense fallback={<SkeletonRows rows={5} />}>
          <SubscriptionForm
            onCancel={() => setMaking(false)}
            onMade={(it) => {
              // A person who went back meanwhile stays where they are.
              if (here.current) setMaking(false);
              setMade(it);
              void client.invalidateQueries({ queryKey: ['subscriptions'] });
            }}
          />
        </Suspense>
      </Dialog>
      <SecretOnce
        secret={made?.secret ?? null}
        title={t('newWebhook.secret')}
        onDone={() => {
          const id = made?.id ?? '';
          setMade(null);
          void openAndTest(id);
        }}
      >
        <Verify />
      </SecretOnce>
    </>
  );
}

export function Webhooks() {
  return (
    <>
      <PageHeader title={t('webhooks.title')} lead={t('webhooks.lead')} actions={<NewWebhookButton />} />
      <SubscriptionList />
    </>
  );
}
