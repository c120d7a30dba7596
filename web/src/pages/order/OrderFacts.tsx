import '@/i18n/en/orders';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Buyer } from '@/components/Buyer';
import { CopyIcon } from '@/components/Copy';
import { Email, Fact, FactList, Facts } from '@/components/Facts';
import { Time } from '@/components/Time';
import { t, T } from '@/i18n/text';
import type { Order } from './types';
import styles from './order.module.css';

export function OrderFacts({ it }: { it: Order }) {
  const stores = useQuery(queries.stores());
  const store = stores.data?.data.find(({ id }) => id === it.integrationId)?.name ?? it.integrationId;
  const username = it.deliveryUsername ?? it.targetUsername;
  return (
    <aside>
      <Facts title={t('orderPage.buyer')}>
        <FactList>
          <Fact name={t('orderPage.username')}>
            <Buyer username={username} />
            {username ? (
              <span className={styles.note}>
                {username === it.targetUsername ? (
                  t('orderPage.usernameHint')
                ) : it.targetUsername ? (
                  <T k="orderPage.usernameSaid" values={{ buyer: <Buyer username={it.targetUsername} /> }} />
                ) : (
                  t('orderPage.usernameNone')
                )}
              </span>
            ) : null}
          </Fact>
          {it.customerEmail ? (
            <Fact name={t('orderPage.email')}>
              <Email of={it.customerEmail} />
            </Fact>
          ) : null}
        </FactList>
      </Facts>
      <Facts title={t('orderPage.order')}>
        <FactList>
          {it.orderNumber ? (
            <Fact name={t('orderPage.number')}>
              <span className={styles.id}>
                <Bdi>{it.orderNumber}</Bdi>
                <CopyIcon text={it.orderNumber} what={it.orderNumber} />
              </span>
            </Fact>
          ) : null}
          <Fact name={t('orderPage.id')}>
            <Id text={it.orderId} />
          </Fact>
          <Fact name={t('orderPage.store')}>
            <Link className="link" to="/integrations/stores/$id/products" params={{ id: it.integrationId }} search={{}}>
              <Bdi>{store}</Bdi>
            </Link>
          </Fact>
          <Fact name={t('orderPage.received')}>
            <Time at={it.receivedAt} />
          </Fact>
          {it.updatedAt !== it.receivedAt ? (
            <Fact name={t('orderPage.updated')}>
              <Time at={it.updatedAt} />
            </Fact>
          ) : null}
          <Fact name={t('orderPage.event')}>
            <Id text={it.eventId} />
          </Fact>
        </FactList>
      </Facts>
    </aside>
  );
}

function Id({ text }: { text: string }) {
  return (
    <span className={styles.id}>
      <code title={text}>
        <Bdi>{text}</Bdi>
      </code>
      <CopyIcon text={text} what={text} />
    </span>
  );
}
