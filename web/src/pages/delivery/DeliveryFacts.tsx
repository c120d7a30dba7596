// The right column: buyer, presets, order, and the events that the shop was sent.
import '@/i18n/en/delivery';
import { ActionIcon } from '@mantine/core';
import { IconArrowBackUp, IconWaveSine, IconMicrophone2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { CopyIcon, useCopy } from '@/components/Copy';
import { Email, Fact, FactList, Facts } from '@/components/Facts';
import { Shape } from '@/components/StatusIcon';
import { Time, useNow } from '@/components/Time';
import { duration } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { itemWord } from '@/vocabulary/delivery';
import { orderIdOf, orderName, partRefunded } from '@/vocabulary/order';
import { useAsk } from './ask';
import { countsOf } from './counts';
import { costOf, refundedFiles, shareableAgain, takenBack } from './taken_back';
import { formerHolders, presentHolder, revocable, type Holder } from './holders';
import { keptAfterRefund, refundedProducts } from './refunds';
import type { Delivery } from './types';
import { useLines } from './useLines';
import styles from './DeliveryFacts.module.css';

export function DeliveryFacts({ it }: { it: Delivery }) {
  return (
    <aside className={styles.facts}>
      <Facts title={t('facts.buyer')}>
        <FactList>
          <Fact name={t('facts.username')}>
            <Buyer username={it.targetUsername} />
            {it.usernameSource === 'merchant' || it.usernameSource === 'buyer' ? (
              <span className={styles.note}>{t(`facts.usernameBy.${it.usernameSource}`)}</span>
            ) : null}
          </Fact>
          {it.customerEmail ? (
            <Fact name={t('facts.email')}>
              <Email of={it.customerEmail} />
            </Fact>
          ) : null}
          <Fact name={t('facts.orderPage')}>
            <CopyLink text={it.buyerUrl} />
          </Fact>
        </FactList>
      </Facts>
      <Presets it={it} />
      <Facts title={t('facts.order')}>
        <FactList>
          <Fact name={t('facts.number')}>
            <Bdi>{orderName(it)}</Bdi>
            <span className={styles.note}>
              <Link className="link" to="/orders/$id" params={{ id: orderIdOf(it.id) }} search={{}}>
                {t('facts.rawOrder')}
              </Link>
            </span>
            {it.storeOrderUrl?.startsWith('https://') ? (
              <span className={styles.note}>
                <a className="link" href={it.storeOrderUrl} target="_blank" rel="noopener noreferrer">
                  {t('facts.openAtStore')}
                </a>
              </span>
            ) : null}
          </Fact>
          <Fact name={t('facts.store')}>
            <Link
              className="link"
              to="/integrations/stores/$id/deliveries"
              params={{ id: it.integrationId }}
              search={{}}
            >
              <Bdi>{it.integrationName}</Bdi>
            </Link>
          </Fact>
          <Fact name={t('facts.received')}>
            <Time at={it.createdAt} />
          </Fact>
          <Fact name={t('facts.delivery')}>
            <span className={styles.id}>
              <code>{it.id}</code>
              <CopyIcon text={it.id} what={it.id} />
            </span>
          </Fact>
        </FactList>
      </Facts>
      <SentEvents it={it} />
    </aside>
  );
}

function CopyLink({ text }: { text: string }) {
  const { state, copy } = useCopy();
  return (
    <button type="button" className="link" onClick={() => void copy(text)}>
      {t(state === 'copied' ? 'action.copied' : 'facts.copyLink')}
    </button>
  );
}

function Presets({ it }: { it: Delivery }) {
  const ask = useAsk();
  const present = presentHolder(it).items;
  const former = formerHolders(it);
  const { spent, toSpend } = countsOf(it);
  const open = !['completed', 'invalidated'].includes(it.status);
  const lines = useLines(it);
  const products = refundedProducts(lines);
  return (
    <Facts title={t('facts.presets')}>
      {former.length > 0 && it.targetUsername !== null ? (
        <h3 className={styles.holder}>
          <T k="facts.forBuyer" values={{ buyer: <Buyer username={it.targetUsername} /> }} />
        </h3>
      ) : null}
      {present.length === 0 ? <NoItems it={it} /> : <Items it={it} holder={presentHolder(it)} />}
      {it.refunded && keptAfterRefund(it, lines).length === 0 ? (
        <>
          {products ? <p className={styles.note}>{products}</p> : null}
          <Keeps it={it} />
        </>
      ) : null}
      <ShareAgain it={it} />
      {former.map((holder) => (
        <div key={holder.username} className={styles.former}>
          <h3 className={styles.holder}>
            <T k="facts.formerly" values={{ buyer: <Buyer username={holder.username} /> }} />
          </h3>
          <Items it={it} holder={holder} />
          {it.allowedActions.includes('revoke') && holder.username && revocable(holder).length > 0 ? (
            <button type="button" className="link" onClick={() => ask({ what: 'revoke', holder })}>
              {t('facts.takeBack')}
            </button>
          ) : null}
        </div>
      ))}
      {it.dryRun ? <p className={styles.note}>{t('facts.credits.none')}</p> : null}
      {spent > 0 ? <p className={styles.note}>{t('facts.credits.spent', { count: spent })}</p> : null}
      {open && toSpend > 0 ? <p className={styles.note}>{t('facts.credits.will', { count: toSpend })}</p> : null}
      {it.partlyUnmapped ? (
        <p className={styles.note}>
          <Link className="link" to="/integrations/stores/$id/products" params={{ id: it.integrationId }} search={{}}>
            {t('facts.partly')}
          </Link>
        </p>
      ) : null}
    </Facts>
  );
}

function NoItems({ it }: { it: Delivery }) {
  const tooLarge = it.size !== null || it.reviewReason === 'too_large' || it.resolutionCode === 'order_too_large';
  if (!tooLarge) return <p className="muted">{t('facts.noItems')}</p>;
  const order = (
    <Link className="link" to="/orders/$id" params={{ id: orderIdOf(it.id) }} search={{}}>
      {t('facts.tooLarge.order')}
    </Link>
  );
  return (
    <p className="muted">
      <T k="facts.tooLarge" values={{ order }} />
    </p>
  );
}

// The presets that the buyer still has of a refunded order, once none is to come. That the only one was taken back is said above.
function Keeps({ it }: { it: Delivery }) {
  const { total, has, took } = countsOf(it);
  if (it.dryRun || total === 0 || has + took < total || (has === 0 && total === 1)) return null;
  return <p className={styles.note}>{t('facts.keeps', { kept: has, count: total })}</p>;
}

function ShareAgain({ it }: { it: Delivery }) {
  const ask = useAsk();
  const lines = useLines(it);
  const items = it.status === 'completed' && it.allowedActions.includes('reopen') ? shareableAgain(it, lines) : [];
  if (items.length === 0) return null;
  const reopen = (
    <button type="button" className="link" onClick={() => ask({ what: 'reopen' })}>
      {t('menu.reopen')}
    </button>
  );
  const cost = costOf(items);
  return (
    <p className={styles.note}>
      {items.length < takenBack(it).items.length ? (
        <T k="facts.shareAgain.paid" values={{ reopen, cost }} />
      ) : (
        <T k="facts.shareAgain" values={{ count: items.length, reopen, cost }} />
      )}
    </p>
  );
}

// Each of several presets that were shared can be taken back alone.
function Items({ it, holder }: { it: Delivery; holder: Holder }) {
  const ask = useAsk();
  const takable = it.allowedActions.includes('revoke') && holder.username ? revocable(holder) : [];
  const lines = useLines(it);
  const refunded = partRefunded(lines) ? refundedFiles(lines ?? []) : null;
  const gone = holder.items.filter(({ status }) => status === 'revoked' || status === 'revoking');
  return (
    <ul className={styles.items}>
      {holder.items.map((item) => {
        const Icon = item.kind === 'capture' ? IconMicrophone2 : IconWaveSine;
        return (
          <li key={item.id} title={item.kind}>
            <Icon size={16} stroke={1.7} aria-hidden="true" />
            <Bdi>{item.name || item.fileId}</Bdi>
            <span data-status={item.status}>
              {itemWord(item)}
              {refunded?.has(item.fileId) ? <span className={styles.note}> {t('facts.refunded.item')}</span> : null}
            </span>
            {takable.length + gone.length > 1 && takable.includes(item) ? (
              <ActionIcon
                size={24}
                aria-label={t('facts.takeBackOne', { preset: item.name || item.fileId })}
                title={t('facts.takeBackOne', { preset: item.name || item.fileId })}
                onClick={() => ask({ what: 'revoke', holder: { ...holder, items: [item] } })}
              >
                <IconArrowBackUp size={15} />
              </ActionIcon>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

const Receiver = ({ name }: { name: string | null }) => (name ? <Bdi className={styles.note}>{name}</Bdi> : null);

function SentEvents({ it }: { it: Delivery }) {
  const now = useNow();
  // Events name their receiver where there is more than one.
  const several = new Set(it.events.map(({ subscriptionId }) => subscriptionId)).size > 1;
  const receivers = useQuery({ ...queries.subscriptions(), enabled: several }).data?.data ?? [];
  const nameOf = (id: string | null) => {
    const receiver = several ? receivers.find((one) => one.id === id) : undefined;
    return receiver ? receiver.name || receiver.url : null;
  };
  return (
    <Facts title={t('facts.told')}>
      {it.events.length === 0 ? <p className="muted">{t('facts.toldNone')}</p> : null}
      <ul className={styles.events}>
        {it.events.slice(0, 20).map((event) => {
          const good = event.lastStatusCode !== null && event.lastStatusCode >= 200 && event.lastStatusCode < 300;
          const waits = event.nextAttemptAt !== null;
          const code = event.lastStatusCode === null ? t('answer.none') : String(event.lastStatusCode);
          const left = event.nextAttemptAt ? Date.parse(event.nextAttemptAt) - now : 0;
          return (
            <li key={`${event.id}${event.subscriptionId ?? ''}`}>
              {good ? (
                <Shape icon="check" colour="teal" />
              ) : event.attempts === 0 ? (
                <Shape icon="dashed" colour="grey" />
              ) : (
                <Shape icon={waits ? 'octagon' : 'slash'} colour={waits ? 'red' : 'grey'} />
              )}
              {event.subscriptionId ? (
                <Link
                  to="/integrations/webhooks/$id"
                  params={{ id: event.subscriptionId }}
                  search={{ event: event.id }}
                >
                  <code>{event.type}</code>
                  <Receiver name={nameOf(event.subscriptionId)} />
                </Link>
              ) : (
                <code>{event.type}</code>
              )}
              <span>
                {good
                  ? code
                  : event.attempts === 0
                    ? t('facts.told.waiting')
                    : waits
                      ? t('facts.told.next', {
                          code,
                          time: t('facts.told.nextIn', { time: duration(Math.max(left, 1000)) }),
                        })
                      : code}
              </span>
            </li>
          );
        })}
      </ul>
    </Facts>
  );
}
