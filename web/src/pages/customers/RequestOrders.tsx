// The orders that a buyer's data request names, with what the service knows of each.
import '@/i18n/en/customers';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Dialog } from '@/components/Dialogs';
import { Pager } from '@/components/Pager';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { orderName } from '@/vocabulary/order';

type Request = Schemas['PrivacyRequest'];
const PAGE = 20;
const MOST = 500; // stored by the service for a request

export function RequestOrders({ it, onClose }: { it: Request | null; onClose: () => void }) {
  return (
    <Dialog opened={it !== null} onClose={onClose} title={t('requests.orders.title')}>
      {it ? <Orders key={it.id} it={it} /> : null}
    </Dialog>
  );
}

function Orders({ it }: { it: Request }) {
  const [cursors, setCursors] = useState<string[]>([]);
  const read = useQuery(queries.privacyRequestOrders(it.id, cursors.at(-1)));
  const next = read.data?.nextCursor;
  return (
    <>
      <Loaded read={read} what={t('requests.orders.what')} skeleton={<SkeletonRows rows={2} />}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{t('requests.orders.untold')}</p>
          ) : (
            <>
              <p className="muted">
                {t('requests.orders.lead')} {it.orderCount > MOST ? t('requests.orders.first', { count: MOST }) : null}
              </p>
              <ul>
                {data.map((one) => (
                  <li key={one.orderId}>
                    <Named it={one} />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      <Pager
        page={cursors.length + 1}
        size={PAGE}
        shown={read.data?.data.length ?? 0}
        words={{ newer: t('list.previous'), older: t('list.next') }}
        onNewer={cursors.length > 0 ? () => setCursors(cursors.slice(0, -1)) : undefined}
        onOlder={next ? () => setCursors([...cursors, next]) : undefined}
      />
    </>
  );
}

function Named({ it }: { it: Schemas['PrivacyRequestOrder'] }) {
  const name = <Bdi>{orderName(it)}</Bdi>;
  if (it.id === null)
    return (
      <>
        {name} <span className="muted">{t('requests.orders.unknown')}</span>
      </>
    );
  return (
    <Link className="link" to="/orders/$id" params={{ id: it.id }} search={{}}>
      {name}
    </Link>
  );
}
