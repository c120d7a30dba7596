// The one panel of a delivery, by its status.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { Panel } from '@/components/Panel';
import { SkeletonRows } from '@/components/States';
import { StatusText } from '@/components/StatusIcon';
import { useSubmit } from '@/components/useSubmit';
import { date, duration, hoursMinutes, listed, momentWithin, since } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t, T } from '@/i18n/text';
import { useShortcuts } from '@/shell/shortcuts';
import { stopReason, word } from '@/vocabulary/delivery';
import { lineOf } from '@/vocabulary/delivery_line';
import { hasAccepted } from './accepted';
import { approvedWords, queuedWords, said, useDeliveryActions } from './actions';
import { useAsk } from './ask';
import { AskBuyer } from './AskBuyer';
import { Actor } from './Actor';
import { countsOf, hasSomethingLeft } from './counts';
import { presentHolder } from './holders';
import { useStay } from './onward';
import { keptAfterRefund } from './refunds';
import { sizeWords } from './size';
import { againWords } from './taken_back';
import type { Delivery } from './types';
import { FixPanel } from './FixPanel';
import { useLines } from './useLines';
import { UsernameForm } from './UsernameForm';
import styles from './panels.module.css';

const Refunded = lazy(() => import('./Refunded').then((part) => ({ default: part.Refunded })));

const NAMED = 5;

export function DeliveryPanel({ it }: { it: Delivery }) {
  if (it.pendingAction) {
    return (
      <Panel tone="teal">
        <p>{t('panel.pending', { then: word('line.pending', it.pendingAction) })}</p>
      </Panel>
    );
  }
  switch (it.status) {
    case 'failed':
      return <FixPanel it={it} />;
    case 'waiting_for_friendship':
      return hasAccepted(it) ? <Accepted it={it} /> : <Waiting it={it} />;
    case 'in_review':
      return <Review it={it} />;
    case 'invalidated':
      return <Stopped it={it} />;
    case 'completed':
      return it.completedAt ? <Completed it={it} at={it.completedAt} /> : null;
    case 'queued':
    case 'processing':
      return <UnderWay it={it} />;
    default:
      return null;
  }
}

// The presets that a rehearsal would have shared.
function namesOf(it: Delivery) {
  const names = presentHolder(it).items.filter(({ status }) => status !== 'dropped');
  const left = names.length - NAMED;
  return [
    ...names.slice(0, NAMED).map(({ name, fileId }) => name || fileId),
    ...(left > 0 ? [t('deliveries.more', { n: left })] : []),
  ];
}

// One line, as nobody has to do anything.
function UnderWay({ it }: { it: Delivery }) {
  const again =
    it.status === 'queued' && it.attemptCount > 0 && it.queuePosition !== null && it.targetUsername !== null;
  if (again) return <p className="muted">{queuedWords(it)}</p>;
  return (
    <p>
      <StatusText status={it.status} line={lineOf(it)} />
    </p>
  );
}

// An approval after a reopening completes it once more, also where nothing was left to share.
function deliveredAt({ completedAt, createdAt }: Delivery, items: Delivery['items']) {
  const last =
    items
      .map(({ sharedAt }) => sharedAt ?? '')
      .sort()
      .at(-1) ?? '';
  const all = items.every(({ sharedAt }) => sharedAt !== null);
  // A preset that the buyer had before the order was not delivered then.
  return all && last >= createdAt && completedAt !== null && last < completedAt ? last : completedAt;
}

function Completed({ it, at }: { it: Delivery; at: string }) {
  const items = presentHolder(it).items.filter(({ status }) => status !== 'dropped');
  const byHand = items.some(({ status }) => status === 'delivered_by_hand');
  const when = it.dryRun || byHand ? at : (deliveredAt(it, items) ?? at);
  const took = Date.parse(when) - Date.parse(it.createdAt);
  const kept = keptAfterRefund(it, useLines(it));
  const key = it.dryRun
    ? 'panel.rehearsed'
    : byHand
      ? 'panel.markedByHand'
      : took < 1000
        ? 'panel.completedAtOnce'
        : 'panel.completed';
  return (
    <>
      <p className="muted">
        {t(key, { when: momentWithin(when), time: duration(took), presets: listed(namesOf(it).map(isolated)) })}
      </p>
      {kept.length > 0 ? (
        <Suspense fallback={<SkeletonRows rows={2} height={56} />}>
          <Refunded it={it} items={kept} />
        </Suspense>
      ) : null}
    </>
  );
}

function Waiting({ it }: { it: Delivery }) {
  const [changing, setChanging] = useState(false);
  const [left, setLeft] = useState(false); // the form was left without a change: the focus goes back to its button
  const change = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (left && !changing) change.current?.focus();
  }, [left, changing]);
  const leave = () => {
    setLeft(true);
    setChanging(false);
  };
  const buyer = <Buyer username={it.targetUsername} />;
  const may = it.allowedActions.includes('change_username');
  useShortcuts(may && !changing ? { e: () => setChanging(true) } : {});
  return (
    <Panel
      tone="amber"
      foot={
        <AskBuyer it={it} lead={t('fix.tellBuyer')} words={t('fix.tellBuyer.waiting')} copy={t('fix.copyReminder')} />
      }
    >
      <h2>
        <T k="panel.waiting" values={{ buyer }} />
      </h2>
      <p className={styles.says}>
        {it.requestedAt ? t('panel.waiting.asked', { when: since(it.requestedAt) }) : null}{' '}
        {it.nextLookAt ? t('panel.waiting.look', { time: hoursMinutes(it.nextLookAt) }) : null}{' '}
        {it.givesUpAt ? t('panel.waiting.givesUp', { date: date(it.givesUpAt) }) : null}
      </p>
      {changing ? (
        <>
          <p className={styles.says}>
            <T k="panel.waiting.changeText" values={{ buyer }} />
          </p>
          <UsernameForm it={it} button={t('panel.waiting.changeSave')} asked onCancel={leave} />
        </>
      ) : may ? (
        <div className={styles.buttons}>
          <Button ref={change} size="md" onClick={() => setChanging(true)}>
            {t('panel.waiting.change')}
          </Button>
        </div>
      ) : null}
    </Panel>
  );
}

// One line, as nobody has to do anything.
function Accepted({ it }: { it: Delivery }) {
  return (
    <p className="muted">
      <T k="panel.accepted" values={{ count: it.itemCount, buyer: <Buyer username={it.targetUsername} /> }} />
    </p>
  );
}

function Review({ it }: { it: Delivery }) {
  const ask = useAsk();
  const stay = useStay();
  const { busy, begin, end } = useSubmit();
  const act = useDeliveryActions(it);
  const balance = useQuery(queries.credits());
  const may = (action: Delivery['allowedActions'][number]) => it.allowedActions.includes(action);
  const again = againWords(it, useLines(it));
  const unsafe = it.reviewReason === 'high_risk' || it.reviewReason === 'payment_withdrawn';
  const askByHand = () => {
    stay();
    ask({ what: 'byHand' });
  };
  async function approve() {
    if (!begin()) return;
    if (!(await said(act('approve'), approvedWords))) stay();
    end();
  }
  // Neither of two answers to a doubt is offered before the other.
  const stop = may('invalidate') ? (
    <Button size="md" variant={unsafe ? 'default' : 'subtle'} onClick={() => ask({ what: 'stop' })}>
      {t('panel.stop')}
    </Button>
  ) : null;
  return (
    <Panel tone="violet" title={t('panel.review')}>
      <p className={styles.says}>
        <Why it={it} />
      </p>
      {it.reviewReason === 'reopened' && may('approve') ? <Approval it={it} /> : null}
      {again && may('approve') ? <p className={styles.says}>{again}</p> : null}
      <div className={styles.buttons}>
        {may('approve') ? (
          <Button
            variant={unsafe ? 'default' : 'filled'}
            size="md"
            disabled={balance.isPending}
            aria-disabled={busy || undefined}
            onClick={() => (busy ? undefined : void approve())}
          >
            {busy ? t('action.working') : t('panel.approve')}
          </Button>
        ) : null}
        {unsafe ? stop : null}
        {may('complete') ? (
          <Button size="md" variant={unsafe ? 'subtle' : may('approve') ? 'default' : 'filled'} onClick={askByHand}>
            {t('panel.byHand')}
          </Button>
        ) : null}
        {unsafe ? null : stop}
      </div>
    </Panel>
  );
}

// The effect of approving once more, but for presets that were taken back: those have a sentence of their own.
function Approval({ it }: { it: Delivery }) {
  const { total, owed, has, toSpend } = countsOf(it);
  if (it.dryRun) return null;
  const words =
    it.items.length > 0 && total === 0
      ? t('confirm.reopen.over')
      : owed > 0
        ? t('panel.review.shares', { count: owed, credits: t('count.credits', { count: toSpend }) })
        : total > 0 && has === total
          ? t('panel.review.hasAll', { count: total })
          : null;
  return words ? <p className={styles.says}>{words}</p> : null;
}

function Why({ it }: { it: Delivery }) {
  switch (it.reviewReason) {
    case 'held':
      return <T k="panel.review.held" values={{ store: <Bdi>{it.integrationName}</Bdi> }} />;
    case 'high_risk': {
      const { total, toSpend, spent } = countsOf(it);
      const paidBefore = total > 0 && toSpend === 0 && spent > 0;
      return t('panel.review.high_risk', {
        presets: t('count.presets', { count: total }),
        credits: it.dryRun
          ? t('panel.review.high_risk.test')
          : paidBefore
            ? t('panel.review.high_risk.before')
            : t('count.credits', { count: toSpend }),
      });
    }
    case 'reopened': {
      const entry = it.timeline.find(({ type, status }) => type === 'action' && status === 'in_review');
      return entry ? (
        <T k="panel.review.reopened" values={{ actor: <Actor of={entry} />, when: since(entry.at) }} />
      ) : (
        t('panel.review.other')
      );
    }
    case 'too_large': {
      const size = sizeWords(it);
      return size ? t('panel.review.too_large.size', { size }) : t('panel.review.too_large');
    }
    case 'payment_withdrawn':
      return t('panel.review.payment_withdrawn');
    default:
      return t('panel.review.other');
  }
}

function Stopped({ it }: { it: Delivery }) {
  const ask = useAsk();
  const refunded = it.reason === 'order_refunded' && !hasSomethingLeft(it);
  return (
    <Panel title={t('panel.stopped')}>
      {it.reason ? (
        <p className={styles.says}>
          <T k="panel.stopped.reason" values={{ reason: <Bdi>{stopReason(it.reason)}</Bdi> }} />
        </p>
      ) : null}
      {refunded ? (
        <p className="muted">{t('panel.stopped.refunded')}</p>
      ) : it.allowedActions.includes('reopen') ? (
        <div className={styles.buttons}>
          <Button size="md" onClick={() => ask({ what: 'reopen' })}>
            {t('panel.reopen')}
          </Button>
        </div>
      ) : it.reason === 'erased' ? (
        <p className="muted">{t('panel.stopped.erased')}</p>
      ) : null}
    </Panel>
  );
}
