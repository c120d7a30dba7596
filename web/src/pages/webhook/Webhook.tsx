import '@/i18n/en/webhooks';
import { ActionIcon, Button, Menu } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconDots } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, ok } from '@/api/client';
import { isMissing } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { CopyIcon } from '@/components/Copy';
import { ConfirmDialog, Dialog } from '@/components/Dialogs';
import { OverlapChoice } from '@/components/OverlapChoice';
import { PageHeader } from '@/components/PageHeader';
import { SecretOnce } from '@/components/SecretOnce';
import { Loaded, SkeletonRows } from '@/components/States';
import { useNow } from '@/components/Time';
import { toast } from '@/components/toasts';
import { duration, momentWithin, timeLeft } from '@/i18n/format';
import { t } from '@/i18n/text';
import { needsYou, stateOf } from '@/vocabulary/health';
import { nameOf, type Subscription } from '@/vocabulary/webhook';
import { Missing } from '../missing/Missing';
import { eventsText, StateText, storesText } from '../webhooks/SubscriptionRows';
import { accepted, Ticks } from '../webhooks/Ticks';
import { Banner } from './Banner';
import { Events } from './Events';
import { Recover } from './Recover';
import { SendTest } from './SendTest';
import styles from './webhook.module.css';

const SubscriptionForm = lazy(() =>
  import('../webhooks/SubscriptionForm').then((part) => ({ default: part.SubscriptionForm })),
);

const route = getRouteApi('/inside/integrations/webhooks/$id');

export function WebhookPage() {
  const { id } = route.useParams();
  const read = useQuery(queries.subscription(id));
  if (isMissing(read.error))
    return <Missing what={t('webhook.missing')} back={{ label: t('webhook.all'), to: '/integrations/webhooks' }} />;
  return (
    <Loaded read={read} page what={t('webhooks.what')}>
      {(it) => <Content it={it} />}
    </Loaded>
  );
}

function Content({ it }: { it: Subscription }) {
  const now = useNow(60_000);
  const state = stateOf(it, now);
  return (
    <>
      <PageHeader
        title={nameOf(it)}
        crumbs={[{ label: t('webhooks.title'), to: '/integrations/webhooks' }, { label: nameOf(it) }]}
        meta={
          <>
            <span className={needsYou(it, now) ? styles.bad : undefined}>
              <StateText it={it} />
            </span>
            {it.health === 'failing' && state !== 'resumed' && it.failuresInARow > 0 ? (
              <span>{t('webhook.inARow', { count: it.failuresInARow })}</span>
            ) : null}
            {it.name ? (
              <span className={styles.url}>
                <Bdi>{it.url}</Bdi> <CopyIcon text={it.url} what={it.url} />
              </span>
            ) : null}
            <span title={it.eventTypes.join(', ')}>{eventsText(it)}</span>
            <span>{storesText(it)}</span>
            {it.previousSecretExpiresAt ? <Overlap until={it.previousSecretExpiresAt} /> : null}
          </>
        }
        actions={<Actions it={it} />}
      />
      <Banner it={it} state={state} />
      <div className={styles.answers}>
        {it.recent.length > 0 ? (
          <>
            <p>
              <strong>{t('answers.accepted', { good: accepted(it.recent), n: it.recent.length })}</strong>{' '}
              {it.p50Ms === null ? null : (
                <span className="muted">{t('answers.typical', { time: duration(it.p50Ms) })}</span>
              )}
            </p>
            <Ticks recent={it.recent} width="page" />
          </>
        ) : (
          <p className="muted">{t('answers.none')}</p>
        )}
      </div>
      <Events it={it} />
    </>
  );
}

// How long the secret from before a rotation still signs.
function Overlap({ until }: { until: string }) {
  const left = Date.parse(until) - useNow(1_000);
  if (left <= 0) return null;
  return <span>{t('webhook.overlap', { time: momentWithin(until), left: timeLeft(left) })}</span>;
}

// How much goes with the webhook.
const lostWords = ({ waitingCount: count, waitingCountIsExact }: Subscription) =>
  count === 0
    ? ''
    : waitingCountIsExact
      ? t('webhook.delete.waiting', { count })
      : t('webhook.delete.waitingMany', { n: count });

type Question = 'edit' | 'rotate' | 'off' | 'delete' | 'recover';

function Actions({ it }: { it: Subscription }) {
  const [asked, setAsked] = useState<Question | null>(null);
  // An entry that is only hidden would take the focus from the menu.
  const narrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  const [overlapSeconds, setOverlap] = useState(86_400);
  const [secret, setSecret] = useState<string | null>(null);
  const client = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { subscription: it.id } };
  const name = nameOf(it);
  const close = () => setAsked(null);
  const again = () => client.invalidateQueries({ queryKey: ['subscriptions'] });
  return (
    <>
      {it.health === 'failing' ? null : <SendTest it={it} first={false} />}
      <Button className={styles.wide} onClick={() => setAsked('rotate')}>
        {t('webhook.rotate')}
      </Button>
      <Menu width={240}>
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label={t('action.more')}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {narrow ? <Menu.Item onClick={() => setAsked('rotate')}>{t('webhook.rotate')}</Menu.Item> : null}
          <Menu.Item onClick={() => setAsked('edit')}>{t('webhook.edit')}</Menu.Item>
          {it.active ? (
            <>
              <Menu.Item onClick={() => setAsked('recover')}>{t('webhook.recover')}</Menu.Item>
              <Menu.Item onClick={() => setAsked('off')}>{t('webhook.off')}</Menu.Item>
            </>
          ) : null}
          <Menu.Divider />
          <Menu.Item data-danger onClick={() => setAsked('delete')}>
            {t('webhook.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={asked === 'edit'} onClose={close} title={t('newWebhook.edit')} size={520}>
        <Suspense fallback={<SkeletonRows rows={5} />}>
          <SubscriptionForm
            it={it}
            onCancel={close}
            onChanged={() => {
              close();
              toast(t('newWebhook.changed'));
              void again();
            }}
          />
        </Suspense>
      </Dialog>
      <ConfirmDialog
        opened={asked === 'rotate'}
        onClose={close}
        title={t('webhook.rotate.title')}
        body={t('webhook.rotate.body')}
        button={t('rotate.button')}
        onConfirm={async () => {
          const made = await ok(
            api.POST('/api/webhook-subscriptions/{subscription}/rotate-secret', { params, body: { overlapSeconds } }),
          );
          setSecret(made.secret);
          void again();
        }}
      >
        <OverlapChoice value={overlapSeconds} onChange={setOverlap} />
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'off'}
        onClose={close}
        title={t('webhook.off.title', { name })}
        body={t('webhook.off.body')}
        button={t('webhook.off.button')}
        onConfirm={async () => {
          await ok(api.PATCH('/api/webhook-subscriptions/{subscription}', { params, body: { active: false } }));
          await again();
        }}
      />
      <ConfirmDialog
        opened={asked === 'delete'}
        onClose={close}
        title={t('webhook.delete.title', { name })}
        body={`${t('webhook.delete.body')} ${lostWords(it)}`}
        button={t('webhook.delete.button')}
        danger
        onConfirm={async () => {
          await ok(api.DELETE('/api/webhook-subscriptions/{subscription}', { params }));
          toast(t('webhook.deleted', { name }));
          await navigate({ to: '/integrations/webhooks', search: {} });
          void again();
        }}
      />
      <Recover id={it.id} opened={asked === 'recover'} onClose={close} />
      <SecretOnce secret={secret} title={t('webhook.rotated')} onDone={() => setSecret(null)} />
    </>
  );
}
