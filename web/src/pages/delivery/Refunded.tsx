// A delivered order was refunded, and the buyer still has presets of it.
import '@/i18n/en/delivery';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { Panel } from '@/components/Panel';
import { t, T } from '@/i18n/text';
import { useAsk } from './ask';
import { countsOf } from './counts';
import { presentHolder } from './holders';
import { refundedProducts } from './refunds';
import type { Delivery } from './types';
import { useLines } from './useLines';
import styles from './panels.module.css';

// `items`: those that can be taken back.
export function Refunded({ it, items }: { it: Delivery; items: Delivery['items'] }) {
  const ask = useAsk();
  const products = refundedProducts(useLines(it));
  const store = useQuery(queries.stores()).data?.data.find(({ id }) => id === it.integrationId);
  const { has, total } = countsOf(it);
  const title = it.refundedInPart
    ? t('panel.refunded.part', { count: items.length })
    : t('panel.refunded', { count: total, kept: has });
  const settings = (
    <Link className="link" to="/integrations/stores/$id/settings" params={{ id: it.integrationId }} search={{}}>
      {t('panel.refunded.settings')}
    </Link>
  );
  const one = items.length === 1 ? items[0] : undefined;
  return (
    <Panel title={title}>
      {it.refundedInPart && products ? <p className={styles.says}>{products}</p> : null}
      {store?.settings.autoRevoke === false ? (
        <p className={styles.says}>
          <T k="panel.refunded.setting" values={{ store: <Bdi>{it.integrationName}</Bdi>, settings }} />
        </p>
      ) : null}
      <div className={styles.buttons}>
        <Button size="md" onClick={() => ask({ what: 'revoke', holder: { ...presentHolder(it), items } })}>
          {one ? t('facts.takeBackOne', { preset: one.name || one.fileId }) : t('menu.revoke')}
        </Button>
      </div>
    </Panel>
  );
}
