// The outcome of one payment in words, with the one action that it asks for.
import '@/i18n/en/credits';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Panel } from '@/components/Panel';
import { Shape } from '@/components/StatusIcon';
import { day, hoursMinutes } from '@/i18n/format';
import { money } from '@/i18n/money';
import { t } from '@/i18n/text';
import { isPartlyRefunded, payUrl, purchaseLook, purchaseWord, receiptUrl, type Purchase } from '@/vocabulary/credits';
import { word, type Colour, type Icon } from '@/vocabulary/delivery';
import styles from './credits.module.css';

type Props = { it: Purchase; asked: boolean }; // asked: the payment processor was asked just now
type Said = { look: [Icon, Colour]; title: string; text: ReactNode; action?: ReactNode };

// Exact: this page's address begins with that of the link, which would count as the page that is open.
const toCredits = (label: string, filled = false) => (
  <Button
    component={Link}
    to="/credits"
    activeOptions={{ exact: true }}
    size="md"
    variant={filled ? 'filled' : 'default'}
  >
    {label}
  </Button>
);

function said(it: Purchase): Said {
  const look = purchaseLook(it.state);
  const pay = payUrl(it);
  switch (it.state) {
    case 'paid':
      return { look, title: t('payment.paid'), text: t('payment.paidText', { count: it.creditsGranted }) };
    case 'pending':
      return pay
        ? {
            look,
            title: t('payment.left'),
            text: t('payment.leftText', { time: hoursMinutes(it.expiresAt) }),
            action: (
              <Button component="a" href={pay} variant="filled" size="md">
                {t('payment.leftGo')}
              </Button>
            ),
          }
        : { look: ['clock', 'amber'], title: t('payment.bank'), text: t('payment.bankText') };
    case 'failed':
      return {
        look,
        title: t('payment.failed'),
        text: (
          <>
            {t('payment.failedText')} <Bdi>{it.problem}</Bdi>
          </>
        ),
        action: toCredits(t('payment.again'), true),
      };
    case 'expired':
      return {
        look,
        title: t('payment.expired'),
        text: t('payment.expiredText'),
        action: toCredits(t('payment.again'), true),
      };
    case 'refunded': {
      const back = money(it.amountRefunded, it.currency);
      const text = t(isPartlyRefunded(it) ? 'payment.partlyRefundedText' : 'payment.refundedText', { money: back });
      return { look, title: purchaseWord(it), text };
    }
    case 'disputed':
      return { look, title: t('payment.disputed'), text: t('payment.disputedText') };
    default:
      return { look, title: word('purchaseState', it.state), text: null }; // newer than this page
  }
}

export function Outcome({ it, asked }: Props) {
  const { look, title, text, action } = said(it);
  const receipt = receiptUrl(it);
  const guided = useQuery(queries.overview()).data?.setup.firstDelivery === false;
  const [ledBack, setLedBack] = useState(false); // the button stays when a delivery of these credits is the first one
  if (guided && !ledBack) setLedBack(true);
  return (
    <Panel tone={it.state === 'paid' ? 'teal' : 'plain'}>
      <div className={styles.outcome} aria-live="polite">
        <Shape icon={look[0]} colour={look[1]} size={22} />
        <div>
          <h2>{title}</h2>
          <p>
            {text} {it.state === 'paid' && it.paidAt ? <DebtPaid id={it.id} paidAt={it.paidAt} /> : null}
          </p>
          {it.state === 'paid' ? <Have since={it.paidAt} /> : null}
          <p className="muted">
            {it.state === 'paid' ? null : (
              <>
                <Bdi>{it.packName}</Bdi>
                {', '}
              </>
            )}
            {it.state === 'paid' && it.paidAt
              ? t('payment.paidOn', { price: money(it.amount, it.currency), day: day(it.paidAt) })
              : money(it.amount, it.currency)}
          </p>
          {asked || it.state !== 'pending' ? null : <p className="muted">{t('payment.away')}</p>}
        </div>
      </div>
      <div className={styles.buttons}>
        {action}
        {ledBack ? (
          <Button component={Link} to="/start" size="md" variant={action ? 'default' : 'filled'}>
            {t('payment.guide')}
          </Button>
        ) : null}
        {receipt ? (
          <Button component="a" href={receipt} target="_blank" rel="noopener noreferrer" size="md">
            {t('payment.receipt')}
          </Button>
        ) : null}
        {it.state === 'failed' || it.state === 'expired' ? null : toCredits(t('payment.back'))}
      </div>
    </Panel>
  );
}

const MOST = 100;

// The part of the credits that paid debt, which is booked with the payment.
function DebtPaid({ id, paidAt }: { id: string; paidAt: string }) {
  const createdTo = new Date(Date.parse(paidAt) + 1000).toISOString();
  const { data } = useQuery(queries.ledger({ kind: 'debt_paid', createdFrom: paidAt, createdTo, limit: MOST }));
  const ours = data?.data.filter(({ purchaseId }) => purchaseId === id) ?? [];
  const count = ours.reduce((sum, { credits }) => sum + credits, 0);
  return count > 0 ? t('payment.debtPaid', { count }) : null;
}

// The balance, and why it may be less than what was added.
function Have({ since }: { since: string | null }) {
  const { data } = useQuery(queries.credits());
  const spends = useQuery({
    ...queries.ledger({ kind: 'spend', createdFrom: since ?? '', limit: MOST }),
    enabled: since !== null,
  }).data;
  if (!data) return null;
  const spent = spends && !spends.nextCursor ? spends.data.reduce((sum, { credits }) => sum + credits, 0) : 0;
  return (
    <p>
      {t('payment.have', { count: data.available })} {spent > 0 ? `${t('payment.spent', { count: spent })} ` : null}
      {data.held > 0 ? <span className="muted">{t('credits.held', { count: data.held })}</span> : null}{' '}
      {data.debt > 0 ? <span className="red">{t('payment.debt', { count: data.debt })}</span> : null}
    </p>
  );
}
