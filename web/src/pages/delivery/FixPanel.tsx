// Why a delivery failed, and what solves it, in place.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Buyer, Name } from '@/components/Buyer';
import { CopyButton } from '@/components/Copy';
import { Panel } from '@/components/Panel';
import { SkeletonRows } from '@/components/States';
import { useSubmit } from '@/components/useSubmit';
import { date } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { useSale } from '@/session/sale';
import { FIXES, word } from '@/vocabulary/delivery';
import { looksLikeMail } from '@/vocabulary/username';
import { queuedWords, said, useDeliveryActions } from './actions';
import { useAsk } from './ask';
import { AskBuyer, CopyMessage } from './AskBuyer';
import { countsOf } from './counts';
import { useStay } from './onward';
import { sizeWords } from './size';
import type { Delivery } from './types';
import { UsernameForm } from './UsernameForm';
import styles from './panels.module.css';

const BuyCredits = lazy(() => import('@/components/BuyCredits').then((part) => ({ default: part.BuyCredits })));
const CloudForm = lazy(() => import('../cloud/CloudForm').then((part) => ({ default: part.CloudForm })));
const FileForm = lazy(() => import('./FileForm').then((part) => ({ default: part.FileForm })));

// The panels that offer to stop the delivery, as there may be nothing else to do.
const STOPPED_HERE: ReadonlySet<Delivery['resolutionCode']> = new Set(['order_too_large']);

export function FixPanel({ it }: { it: Delivery }) {
  const code = it.resolutionCode;
  if (code === null || !Object.hasOwn(FIXES, code)) {
    // Newer than this page: the service's own words.
    return (
      <Panel tone="red" title={it.resolution?.title ?? it.message}>
        <p className={styles.says}>
          <Bdi>{it.resolution?.text ?? it.message}</Bdi>
        </p>
        <Suspense fallback={<SkeletonRows rows={1} height={56} />}>
          <Primary it={it} />
        </Suspense>
      </Panel>
    );
  }
  return (
    <Panel tone="red" title={word('fix', code)} foot={<Foot it={it} />}>
      <p className={styles.says}>
        <Says it={it} code={code} /> <NotLost it={it} />
      </p>
      <Suspense fallback={<SkeletonRows rows={1} height={56} />}>
        <Primary it={it} />
      </Suspense>
    </Panel>
  );
}

function Says({ it, code }: { it: Delivery; code: NonNullable<Delivery['resolutionCode']> }): ReactNode {
  const balance = useQuery({ ...queries.credits(), enabled: code === 'insufficient_credits' || isLogin(code) });
  const { toSpend } = countsOf(it);
  const have = balance.data?.available;
  const short = have !== undefined && have < toSpend; // the next thing that would stop it
  const cloud = useQuery({ ...queries.cloud(), enabled: code === 'credentials_missing' });
  const sold = useSale(code === 'insufficient_credits');
  const name = (
    <strong>
      <Name>{it.targetUsername ?? ''}</Name>
    </strong>
  );
  const buyer = <Buyer username={it.targetUsername} />;
  const file = <Bdi>{`“${it.resolution?.fileName ?? ''}”`}</Bdi>;
  switch (code) {
    case 'username_not_found':
      return (
        <T
          k={looksLikeMail(it.targetUsername ?? '') ? 'fix.username_not_found.mail' : 'fix.username_not_found.text'}
          values={{ name }}
        />
      );
    case 'friend_request_declined':
      return <T k="fix.friend_request_declined.text" values={{ buyer }} />;
    case 'friendship_timeout':
      return it.resumableUntil ? (
        <T k="fix.friendship_timeout.text" values={{ buyer, date: date(it.resumableUntil) }} />
      ) : (
        <T k="fix.friendship_timeout.textOpen" values={{ buyer }} />
      );
    case 'blocked_by_customer':
      return <T k="fix.blocked_by_customer.text" values={{ buyer }} />;
    case 'credentials_missing':
    case 'credentials_invalid':
      return (
        <>
          {loginWords(it, cloud.data?.unreadable ?? false, short)}
          {short ? (
            <>
              {' '}
              <T
                k="fix.alsoCredits"
                values={{
                  count: toSpend,
                  have,
                  credits: (
                    <Link className="link" to="/credits" search={{}}>
                      {t('fix.credits')}
                    </Link>
                  ),
                }}
              />
            </>
          ) : null}
        </>
      );
    case 'preset_not_found':
      return <T k="fix.preset_not_found.text" values={{ file }} />;
    case 'preset_not_shareable':
      return <T k="fix.preset_not_shareable.text" values={{ file }} />;
    case 'insufficient_credits':
      return t(sold === false ? 'fix.insufficient_credits.unsold' : 'fix.insufficient_credits.text', {
        count: it.resolution?.creditsNeeded ?? it.itemCount,
        have: balance.data?.available ?? 0,
      });
    case 'order_too_large': {
      const size = sizeWords(it);
      return size ? t('fix.order_too_large.size', { size }) : t('fix.order_too_large.text');
    }
    default:
      return t(`fix.${code}.text`);
  }
}

// `short`: the credits do not suffice either.
function loginWords({ resolutionCode, resolution }: Delivery, unreadable: boolean, short: boolean): string {
  if (resolutionCode === 'credentials_invalid')
    return short
      ? t('fix.credentials_invalid.short')
      : t('fix.credentials_invalid.text', { count: resolution?.affectedCount ?? 1 });
  if (unreadable) return t('fix.credentials_missing.unreadable');
  return t(short ? 'fix.credentials_missing.short' : 'fix.credentials_missing.text');
}

const isLogin = (code: Delivery['resolutionCode']) => code === 'credentials_missing' || code === 'credentials_invalid';

// Says how much was shared, and what that has cost.
function NotLost({ it }: { it: Delivery }) {
  const { total, shared, sharedFormerly, unknown, spent } = countsOf(it);
  if (it.items.length === 0) return null;
  if (shared + sharedFormerly + unknown + spent === 0) return t('fix.lost.none');
  return [
    shared > 0 ? t('fix.lost.some', { count: shared, total }) : '',
    sharedFormerly > 0 ? t('fix.lost.formerly', { count: sharedFormerly }) : '',
    unknown > 0 ? t('fix.lost.unknown', { count: unknown }) : '',
    spent > 0 ? t('fix.lost.spent', { count: spent }) : t('fix.lost.noneSpent'),
  ]
    .filter(Boolean)
    .join(' ');
}

function Primary({ it }: { it: Delivery }) {
  const act = useDeliveryActions(it);
  const { busy, begin, end } = useSubmit();
  const ask = useAsk();
  const stay = useStay();
  const fix = it.resolutionCode ? FIXES[it.resolutionCode] : 'retry';
  const may = (action: Delivery['allowedActions'][number]) => it.allowedActions.includes(action);
  async function retry(body: { keepFriendRequest?: boolean }) {
    if (!begin()) return;
    if (!(await said(act('retry', body), queuedWords))) stay();
    end();
  }
  const retryButton = (label: string, { filled = true, body = {} } = {}) =>
    may('retry') ? (
      <Button
        variant={filled ? 'filled' : 'default'}
        size="md"
        leftSection={<IconRefresh size={16} />}
        aria-disabled={busy || undefined}
        onClick={() => (busy ? undefined : void retry(body))}
      >
        {busy ? t('action.working') : label}
      </Button>
    ) : null;
  const askByHand = () => {
    stay();
    ask({ what: 'byHand' });
  };
  const askStop = () => {
    stay();
    ask({ what: 'stop' });
  };
  const byHand = may('complete') ? (
    <Button size="md" variant={fix === 'byHand' ? 'filled' : 'default'} onClick={askByHand}>
      {t('fix.byHand')}
    </Button>
  ) : null;
  const stop = may('invalidate') ? (
    <Button size="md" variant="subtle" onClick={askStop}>
      {t('panel.stop')}
    </Button>
  ) : null;
  switch (fix) {
    case 'username':
      return may('change_username') ? (
        <UsernameForm
          it={it}
          button={t(it.resolutionCode === 'username_missing' ? 'fix.saveDeliver' : 'fix.saveRetry')}
        />
      ) : null;
    case 'file':
    case 'fileRetry': {
      const again = retryButton(t('fix.retry'), { filled: false }); // the file may have been put right at the platform
      return (
        <>
          <FileForm it={it} retry={fix === 'fileRetry'} />
          {again ? <div className={styles.ends}>{again}</div> : null}
        </>
      );
    }
    case 'cloud':
      return (
        <div className={styles.form}>
          <CloudForm
            button={t(it.resolutionCode === 'credentials_missing' ? 'fix.connect' : 'fix.signIn')}
            onFailed={stay}
          />
        </div>
      );
    // The ways to go on, and those to end it.
    case 'waitMore':
      return (
        <>
          <div className={styles.buttons}>
            {retryButton(t('fix.waitMore'), { body: { keepFriendRequest: true } })}
            {retryButton(t('fix.renewRequest'), { filled: false })}
          </div>
          <div className={styles.ends}>
            {byHand}
            {stop}
          </div>
        </>
      );
    case 'credits':
      return (
        <div className={styles.buttons}>
          <BuyCredits />
        </div>
      );
    default:
      return (
        <div className={styles.buttons}>
          {fix === 'byHand' ? byHand : null}
          {fix === 'message' ? <CopyMessage it={it} /> : null}
          {fix === 'ask' ? retryButton(t('fix.askAgain')) : null}
          {fix === 'retry' ? retryButton(t('fix.retry')) : null}
          {fix === 'wait' ? retryButton(t('fix.retryNow'), { filled: false }) : null}
          {fix === 'message' ? retryButton(t('fix.retry'), { filled: false }) : null}
          {fix !== 'byHand' && fix !== 'wait' ? byHand : null}
          {it.resolutionCode === 'internal_error' ? (
            <CopyButton text={it.id} label={t('fix.copyId')} size="md" />
          ) : null}
          {STOPPED_HERE.has(it.resolutionCode) ? stop : null}
        </div>
      );
  }
}

function Foot({ it }: { it: Delivery }) {
  switch (it.resolutionCode) {
    case 'username_missing':
    case 'username_not_found':
      return (
        <AskBuyer
          it={it}
          lead={t('fix.notSure')}
          words={t(it.resolutionCode === 'username_missing' ? 'fix.canEnter' : 'fix.canCorrect')}
        />
      );
    case 'friend_request_declined':
    case 'blocked_by_customer':
      return (
        <AskBuyer
          it={it}
          lead={t('fix.tellBuyer')}
          words={t('fix.tellBuyer.declined')}
          copy={it.resolutionCode === 'blocked_by_customer' ? null : undefined}
        />
      );
    case 'friendship_timeout':
      return (
        <AskBuyer it={it} lead={t('fix.tellBuyer')} words={t('fix.tellBuyer.waiting')} copy={t('fix.copyReminder')} />
      );
    case 'preset_not_found':
    case 'preset_not_shareable':
      return (
        <Link className="link" to="/integrations/stores/$id/products" params={{ id: it.integrationId }} search={{}}>
          {t('fix.product')}
        </Link>
      );
    default:
      return null;
  }
}
