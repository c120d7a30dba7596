// One event: its delivery attempts, the receiver's answers, and the request.
import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { CopyIcon } from '@/components/Copy';
import { Json } from '@/components/Json';
import { visible } from '@/components/json_text';
import { Loaded } from '@/components/States';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { duration, hoursMinutesSeconds, moment, utc } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { stateOf } from '@/vocabulary/health';
import type { Subscription } from '@/vocabulary/webhook';
import styles from './webhook.module.css';

type Detail = Schemas['WebhookEventDetail'];
type Attempt = Schemas['EventAttempt'];

export function EventView({ subscription, id }: { subscription: Subscription; id: string }) {
  const read = useQuery(queries.event(subscription.id, id));
  return (
    <Loaded read={read} what={t('event.what')}>
      {(it) => <Content subscription={subscription} it={it} />}
    </Loaded>
  );
}

function Content({ subscription, it }: { subscription: Subscription; it: Detail }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  const attempt = it.attempts.find(({ id }) => id === chosen) ?? it.attempts.at(-1);
  const order = it.orderNumber ?? it.orderId;
  // An answer is also in the head and the lists, which were read before it.
  const tries = it.attempts.length;
  const seen = useRef(/^(unused|resumed)$/.test(stateOf(subscription, useNow())) ? 0 : tries);
  useEffect(() => {
    if (tries === seen.current) return;
    seen.current = tries;
    void client.invalidateQueries({ queryKey: ['subscriptions'], predicate: ({ queryKey }) => queryKey[3] !== it.id });
  }, [client, it.id, tries]);
  async function resend() {
    if (!begin()) return;
    try {
      await ok(
        api.POST('/api/webhook-subscriptions/{subscription}/events/{event}/resend', {
          params: { path: { subscription: subscription.id, event: it.id } },
        }),
      );
      toast(t('event.resent'));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
    await client.invalidateQueries({ queryKey: ['subscriptions'] });
    end();
  }
  return (
    <>
      <div className={styles.head}>
        <div>
          <h2>
            <code>{it.type}</code>
          </h2>
          <p className="muted">
            {order ? (
              <T
                k="event.forOrder"
                values={{
                  when: <time title={utc(it.createdAt)}>{moment(it.createdAt)}</time>,
                  order: it.deliveryId ? (
                    <Link className="link" to="/deliveries/$id" params={{ id: it.deliveryId }} search={{}}>
                      <Bdi>{t('event.order', { order })}</Bdi>
                    </Link>
                  ) : (
                    <Link className="link" to="/orders" search={{ q: order }}>
                      <Bdi>{t('event.order', { order })}</Bdi>
                    </Link>
                  ),
                }}
              />
            ) : (
              moment(it.createdAt)
            )}
          </p>
        </div>
        <Button
          leftSection={<IconRefresh size={16} />}
          disabled={!subscription.active}
          aria-disabled={busy || undefined}
          onClick={() => (busy ? undefined : void resend())}
        >
          {t('event.resend')}
        </Button>
      </div>
      {it.type === 'webhook.test' ? <TestState last={it.attempts.at(-1)} /> : null}
      <Attempts it={it} chosen={attempt?.id} onChoose={setChosen} />
      <h3>{t('event.answered')}</h3>
      <div className={styles.code} tabIndex={0} role="group" aria-label={t('event.answered')}>
        {attempt ? (
          <>
            <div className="muted">
              {attempt.statusCode === null ? (
                word('outcome', attempt.outcome)
              ) : (
                <span translate="no">{`HTTP ${attempt.statusCode}`}</span>
              )}
              {attempt.contentType ? (
                <>
                  {' · '}
                  <Bdi>{attempt.contentType}</Bdi>
                </>
              ) : null}
            </div>
            <div>{visible(attempt.answer) || t('event.answerEmpty')}</div>
          </>
        ) : (
          t('event.answerNone')
        )}
      </div>
      <div className={styles.sent}>
        <h3>{t('event.sent')}</h3>
        <span className="quiet">{t('event.sentHint')}</span>
        <CopyIcon text={it.body} what={t('event.sent')} />
      </div>
      <pre className={styles.code} tabIndex={0} role="group" aria-label={t('event.sent')}>
        <Json text={it.body} />
      </pre>
      <details className={styles.headers}>
        <summary>
          {t('event.headers', { count: Object.keys(it.headers).length })}{' '}
          <span className="quiet">{t('event.headersHint')}</span>
        </summary>
        <dl>
          {Object.entries(it.headers).map(([name, value]) => (
            <div key={name}>
              <dt translate="no">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}

function TestState({ last }: { last: Attempt | undefined }) {
  const state = !last ? 'waiting' : last.outcome === 'succeeded' ? 'accepted' : 'refused';
  return (
    <p className={styles.test} role="status">
      {last ? <AttemptIcon attempt={last} /> : <Shape icon="arc" colour="teal" />}
      {t(`event.test.${state}`)}
    </p>
  );
}

function Attempts({
  it,
  chosen,
  onChoose,
}: {
  it: Detail;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}) {
  const now = useNow(1000);
  if (it.attempts.length === 0 && !it.nextAttemptAt) return null;
  return (
    <ol className={styles.attempts}>
      {it.attempts.slice(-8).map((attempt, index, shown) => (
        <li key={attempt.id}>
          <button type="button" aria-pressed={attempt.id === chosen} onClick={() => onChoose(attempt.id)}>
            <AttemptIcon attempt={attempt} />
            <strong>{attempt.statusCode ?? word('outcome', attempt.outcome)}</strong>
            <span className="muted">{t('event.attempt', { n: it.attempts.length - shown.length + index + 1 })}</span>
            <span className={styles.when}>
              {t('event.took', { time: hoursMinutesSeconds(attempt.at), took: duration(attempt.durationMs) })}
            </span>
          </button>
        </li>
      ))}
      {it.nextAttemptAt ? (
        <li className={styles.next}>
          <Shape icon="dashed" colour="grey" />
          <span>{t('event.next')}</span>
          <span className={styles.when}>
            {Date.parse(it.nextAttemptAt) > now
              ? t('event.nextIn', { time: duration(Date.parse(it.nextAttemptAt) - now) })
              : t('time.now')}
          </span>
        </li>
      ) : null}
    </ol>
  );
}

const AttemptIcon = ({ attempt }: { attempt: Attempt }) =>
  attempt.outcome === 'succeeded' ? <Shape icon="check" colour="teal" /> : <Shape icon="octagon" colour="red" />;
