// The outcome of the order in a sentence, and the actions on it.
import '@/i18n/en/orders';
import { Button } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { BuyCredits } from '@/components/BuyCredits';
import { Panel } from '@/components/Panel';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { codeWord, statusWord, word } from '@/vocabulary/delivery';
import { allRefunded } from '@/vocabulary/order';
import { standingOf } from '@/vocabulary/outcome';
import { bareKey } from './bare';
import type { Order } from './types';

const SwitchOn = lazy(() => import('./SwitchOn').then((part) => ({ default: part.SwitchOn })));

// Processes the order with the present matches, and shows the result.
export function useReprocess(id: string) {
  const client = useQueryClient();
  return async () => {
    const path = { order: id };
    const next = await ok(api.POST('/api/orders/{order}/reprocess', { params: { path } }));
    client.setQueryData(queries.order(id).queryKey, next);
    for (const key of ['orders', 'deliveries', 'stores', 'credits'])
      void client.invalidateQueries({ queryKey: [key], predicate: ({ queryKey }) => queryKey[2] !== id });
    return next;
  };
}

// Where a delivery stays in one of these, there was nothing new to deliver.
const ENDS: ReadonlySet<Order['deliveryStatus']> = new Set(['completed', 'invalidated']);

// The state that came of it. The order does not say how many credits its delivery needs.
export function useOutcomeWords() {
  const client = useQueryClient();
  return async ({ deliveryId, deliveryStatus, resolutionCode: code }: Order, before?: Order) => {
    if (!deliveryId || !deliveryStatus) return t('orderPage.again.nothing');
    if (before?.deliveryStatus === deliveryStatus && ENDS.has(deliveryStatus)) return t('orderPage.again.same');
    if (code === 'insufficient_credits') {
      const read = client.fetchQuery({ ...queries.delivery(deliveryId), staleTime: 0 });
      const n = (await read.catch(() => null))?.resolution?.creditsNeeded;
      if (n) return t('orderPage.again.credits', { n });
    }
    const state = statusWord(deliveryStatus);
    return t('orderPage.again.done', { state: code ? `${state}, ${codeWord(code)}` : state });
  };
}

// The line had no preset when the order was matched, and has one now.
export const isMatchedSince = ({ result, matchedBy }: Order['lines'][number]) =>
  matchedBy !== null && result !== 'delivers' && result !== 'ignored';

const isOnly = (lines: Order['lines'], ...known: string[]) =>
  lines.length > 0 && lines.every(({ result }) => known.includes(result));
const isPartly = ({ outcome, lines }: Order) =>
  outcome === 'delivery' && isOnly(lines, 'delivers', 'ignored', 'unmapped') && !isOnly(lines, 'delivers', 'ignored');

// In words of products and presets where the results of the lines allow it; else the service's reason, where the title does not
// give it already.
function reasonOf(it: Order): string {
  const { outcome, lines, reason } = it;
  const only = (...known: string[]) => isOnly(lines, ...known);
  if (outcome === 'inactive' || (outcome === 'delivery' && only('delivers', 'ignored'))) return '';
  if (outcome === 'awaiting_payment') return t('orderPage.text.awaiting_payment');
  if (outcome === 'stopped' && overBy(it)) return '';
  if (isPartly(it)) {
    const count = lines.filter(isMatchedSince).length;
    return count > 0 ? t('orderPage.text.partlyThen', { count }) : ''; // products without presets have a line of their own
  }
  if (outcome === 'no_mapped_items' && only('ignored')) return t('orderPage.text.ignored');
  if (outcome === 'no_mapped_items' && only('unmapped', 'ignored'))
    return t(lines.some(isMatchedSince) ? 'orderPage.text.unmappedThen' : 'orderPage.text.unmapped');
  return reason;
}

// The order is over, so nothing more of it is delivered.
function overBy({ cancelled, test, refunded, lines }: Order) {
  if (cancelled && !test) return 'cancelled';
  return refunded && allRefunded(lines) ? 'refunded' : null;
}

// A node of the version before does not say what the order takes, and refuses what it does not.
const takesAgain = ({ allowedActions = ['reprocess'] }: Partial<Order>) => allowedActions.includes('reprocess');

// The delivery needs the merchant. Its page says more, and has what solves it.
function troubleOf({ deliveryStatus, resolutionCode }: Order) {
  if (deliveryStatus === 'failed' && resolutionCode)
    return { tone: 'red', title: t('orderPage.lead.failed', { problem: codeWord(resolutionCode) }) } as const;
  return deliveryStatus === 'in_review' ? ({ tone: 'amber', title: t('orderPage.lead.in_review') } as const) : null;
}

// Opens the choice of the first product that waits for its match.
function goToMatch() {
  const lines = document.querySelector('[aria-labelledby="lines"]');
  const choose = lines?.querySelector<HTMLElement>('[data-choose]');
  const first = choose ?? lines?.querySelector<HTMLElement>('button');
  first?.scrollIntoView({ block: 'center' });
  if (choose) choose.click();
  else first?.focus();
}

export function OutcomePanel({ it }: { it: Order }) {
  const { busy, begin, end } = useSubmit();
  const [error, setError] = useState<unknown>();
  const reprocess = useReprocess(it.id);
  const words = useOutcomeWords();
  const since = !it.erased && it.lines.some(isMatchedSince);
  const waits = it.resolutionCode === 'insufficient_credits' && !it.erased;
  const bare = it.lines.filter(({ result, matchedBy }) => result === 'unmapped' && matchedBy === null).length;
  const standing = standingOf(it);
  const stores = useQuery({ ...queries.stores(), enabled: standing === 'inactive' });
  const store =
    standing === 'inactive' && !it.erased && !overBy(it)
      ? stores.data?.data.find(({ id }) => id === it.integrationId)
      : undefined;
  const over = overBy(it);
  const trouble = it.erased || waits ? null : troubleOf(it);
  const takesIt = takesAgain(it) && !over;
  const toMatch = standing === 'unmatched' && !over && !since && it.lines.some(bareKey);
  const may =
    takesIt &&
    !(standing === 'inactive' && stores.isPending) && // a store that is off is switched on first
    (!trouble || since) &&
    (['delivery', 'nothing', 'inactive'].includes(standing) || (standing === 'unmatched' && since));
  const says = [
    trouble ? t('orderPage.trouble') : reasonOf(it),
    store ? t(store.active ? 'orderPage.isOn' : 'orderPage.isOff') : '',
    since && may && (trouble || !isPartly(it))
      ? t(bare > 0 ? 'orderPage.matchedSinceSome' : 'orderPage.matchedSince')
      : '',
    toMatch ? t('orderPage.matchHint') : '',
    over ? t(`orderPage.over.${over}`) : it.refunded && may ? t('orderPage.refundedHint') : '',
  ]
    .filter(Boolean)
    .join(' ');
  async function again() {
    if (!begin()) return;
    setError(undefined);
    try {
      toast(await words(await reprocess(), it));
    } catch (failure) {
      setError(failure);
    } finally {
      end();
    }
  }
  return (
    <Panel
      tone={trouble?.tone ?? (standing === 'unmatched' ? 'amber' : 'plain')}
      title={
        it.erased
          ? t('orderPage.lead.erased')
          : (trouble?.title ?? word('orderPage.lead', standing === 'unmatched' && since ? it.outcome : standing))
      }
      foot={
        <>
          {waits ? <BuyCredits /> : null}
          {toMatch ? (
            <Button variant="filled" onClick={goToMatch}>
              {t('orderPage.match', { count: bare })}
            </Button>
          ) : null}
          {it.deliveryId ? (
            <OpenDelivery id={it.deliveryId} first={!since && !waits} solves={trouble !== null} />
          ) : null}
          {store && !store.active ? (
            <Suspense>
              <SwitchOn id={store.id} name={store.name} order={it.id} />
            </Suspense>
          ) : null}
          {may && (store?.active ?? true) ? (
            <Button
              variant={since && !waits ? 'filled' : 'default'}
              aria-disabled={busy || undefined}
              onClick={() => (busy ? undefined : void again())}
            >
              {busy ? t('action.working') : t(since && !it.deliveryId ? 'orderPage.deliver' : 'orderPage.again')}
            </Button>
          ) : null}
        </>
      }
    >
      {says && !it.erased ? <p className="muted">{says}</p> : null}
      {it.outcome === 'delivery' && bare > 0 && !it.erased && !over ? (
        <p>{t('orderPage.partly', { count: bare })}</p>
      ) : null}
      {waits ? <p>{t('orderPage.credits')}</p> : null}
      {error ? <Alert>{sentence(error)}</Alert> : null}
    </Panel>
  );
}

function OpenDelivery({ id, first, solves }: { id: string; first: boolean; solves: boolean }) {
  return (
    <Button
      variant={first ? 'filled' : 'default'}
      rightSection={<IconArrowRight size={16} />}
      renderRoot={(props) => <Link {...props} to="/deliveries/$id" params={{ id }} search={{}} />}
    >
      {t(solves ? 'orderPage.solve' : 'orderPage.open')}
    </Button>
  );
}
