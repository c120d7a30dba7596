// The dialogs of the questions about a delivery (Questions.tsx), loaded with the first one.
import '@/i18n/en/delivery';
import '@/i18n/en/questions';
import { Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Fragment, useEffect, useState } from 'react';
import { api, ok } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { useCopy } from '@/components/Copy';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { statusWord, word } from '@/vocabulary/delivery';
import { orderName } from '@/vocabulary/order';
import { queuedWords, useDeliveryActions } from './actions';
import type { Asked, Question } from './ask';
import { countFor, countsOf, hasSomethingLeft } from './counts';
import { presentHolder, revocable } from './holders';
import { againWords, refundedFiles } from './taken_back';
import type { Delivery } from './types';
import { useHears } from './useHears';
import { useLines } from './useLines';
import styles from './QuestionDialogs.module.css';

const NEEDS = {
  stop: 'invalidate',
  reopen: 'reopen',
  byHand: 'complete',
  revoke: 'revoke',
  instead: 'change_username',
} as const satisfies Partial<Record<Question['what'], Delivery['allowedActions'][number]>>;

const NAMED = 5;

const stateOf = ({ status, pendingAction }: Delivery) =>
  pendingAction ? `${statusWord(status)}, ${word('line.pending', pendingAction)}` : statusWord(status);

type Props = { it: Delivery; asked: Asked; opened: boolean; onClose: () => void };

export function QuestionDialogs({ it, asked: { question, was }, opened, onClose }: Props) {
  // The first one opens once it is here: a dialog returns the focus to where it was when it opened.
  const [here, setHere] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setHere(true));
    return () => cancelAnimationFrame(frame);
  }, []);
  const [reason, setReason] = useState('');
  const act = useDeliveryActions(it);
  const client = useQueryClient();
  const { copy } = useCopy();
  const order = orderName(it);
  const taken = question.what === 'revoke' ? question.holder : presentHolder(it);
  const takable = revocable(taken);
  const itemIds = takable.map(({ id }) => id);
  const { owed, kept } = countsOf(it);
  const to = question.what === 'instead' ? question.to : '';
  const needs = countFor(it, to);
  const stopping = it.status === 'completed' ? 'confirm.stop.completed' : 'confirm.stop.body';
  const again = againWords(it, useLines(it));
  const hearsStop = useHears('delivery.invalidated', it.integrationId);
  const hearsEnd = useHears('delivery.completed', it.integrationId);
  const dialog = (what: Question['what']) => {
    const open = here && opened && question.what === what;
    const over = what !== 'link' && !it.allowedActions.includes(NEEDS[what]);
    const changed = over || stateOf(it) !== stateOf(was);
    return {
      opened: open,
      onClose,
      meanwhile: open && changed ? t('confirm.changed', { status: stateOf(it) }) : undefined,
      over: open && over ? t(`confirm.over.${what}`) : undefined,
    };
  };
  const done = (words: string) => (now: Delivery) => toast(now.pendingAction ? t('act.accepted') : words);
  async function stop() {
    const now = await act('invalidate', { reason: reason.trim() });
    toast(now.pendingAction ? t('act.afterStep') : t('act.stopped'));
    setReason('');
  }
  async function newLink() {
    const { buyerUrl } = await ok(
      api.POST('/api/deliveries/{delivery}/buyer-link', { params: { path: { delivery: it.id } } }),
    );
    void client.invalidateQueries({ queryKey: ['deliveries', 'one', it.id] });
    if (await copy(buyerUrl)) toast(t('act.link'));
  }
  return (
    <>
      <ConfirmDialog
        {...dialog('stop')}
        title={t('confirm.stop.title')}
        body={t(stopping, { order, reason: t(hearsStop ? `${stopping}.told` : 'confirm.stop.kept') })}
        button={t('confirm.stop.button')}
        danger
        ready={reason.trim() !== ''}
        onConfirm={stop}
      >
        <Textarea
          label={t('confirm.stop.reason')}
          rows={3}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          data-autofocus
        />
      </ConfirmDialog>
      <ConfirmDialog
        {...dialog('reopen')}
        title={t('confirm.reopen.title', { order })}
        body={
          <>
            <p>{t(hasSomethingLeft(it) ? 'confirm.reopen.body' : 'confirm.reopen.over')}</p>
            {kept > 0 ? <p>{t('confirm.reopen.kept', { presets: t('count.presets', { count: kept }) })}</p> : null}
            {again ? <p>{again}</p> : null}
          </>
        }
        button={t('confirm.reopen.button')}
        onConfirm={() => act('reopen').then(done(t('act.reopened')))}
      />
      <ConfirmDialog
        {...dialog('byHand')}
        title={t('confirm.byHand.title')}
        body={byHandWords(owed, hearsEnd)}
        button={t('confirm.byHand.button')}
        onConfirm={() => act('complete').then(done(t('act.byHand')))}
      />
      <ConfirmDialog
        {...dialog('revoke')}
        title={t('confirm.revoke.title', {
          count: itemIds.length,
          preset: takable[0]?.name || (takable[0]?.fileId ?? ''),
          buyer: `@${taken.username}`,
        })}
        body={<TakenBack it={it} items={takable} />}
        button={t('confirm.revoke.button')}
        danger
        onConfirm={() => act('revoke', { itemIds }).then(done(t('act.takenBack', { count: itemIds.length })))}
      />
      <ConfirmDialog
        {...dialog('instead')}
        title={t('confirm.retryShared.title', { buyer: `@${to}` })}
        body={t(it.dryRun ? 'confirm.retryShared.test' : 'confirm.retryShared.body', {
          old: `@${it.targetUsername ?? ''}`,
          kept: t('count.presets', { count: kept }),
          buyer: `@${to}`,
          presets: t('count.presets', { count: needs }),
          credits: t('count.credits', { count: needs }),
        })}
        button={t('confirm.retryShared.button', { buyer: `@${to}` })}
        onConfirm={() => act('retry', { targetUsername: to }).then((now) => toast(queuedWords(now)))}
      />
      <ConfirmDialog
        {...dialog('link')}
        title={t('confirm.newLink.title')}
        body={t('confirm.newLink.body')}
        button={t('confirm.newLink.button')}
        onConfirm={newLink}
      />
    </>
  );
}

const byHandWords = (owed: number, hears: boolean) =>
  owed === 0
    ? t(hears ? 'confirm.byHand.noneTold' : 'confirm.byHand.none')
    : [t('confirm.byHand.body', { count: owed }), hears ? t('confirm.byHand.told') : ''].join(' ').trim();

// The presets by their names. One alone is named by the title.
function TakenBack({ it, items }: { it: Delivery; items: Delivery['items'] }) {
  const several = items.length > 1;
  const refunded = refundedFiles(useLines(it) ?? []);
  const paid = it.refundedInPart && items.some(({ fileId }) => !refunded.has(fileId));
  const left = items.length - NAMED;
  const names = [
    ...items.slice(0, NAMED).map(({ name, fileId }) => name || fileId),
    ...(left > 0 ? [t('confirm.revoke.more', { n: left })] : []),
  ];
  return (
    <div className={styles.takenBack}>
      {several ? (
        <p>
          <strong>
            {names.map((name, at) => (
              <Fragment key={at}>
                {at > 0 ? ', ' : ''}
                <Bdi>{name}</Bdi>
              </Fragment>
            ))}
          </strong>
        </p>
      ) : null}
      {several && paid ? <p>{t('confirm.revoke.paid')}</p> : null}
      <p>
        {t('confirm.revoke.body', { count: items.length })} {t('confirm.revoke.other')}
      </p>
    </div>
  );
}
