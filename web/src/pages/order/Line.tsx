import '@/i18n/en/orders';
import '@/i18n/en/delivery';
import '@/i18n/en/stores';
import { IconAlertTriangle, IconEyeOff, IconMicrophone2, IconWaveSine } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Bdi } from '@/components/Bdi';
import { t } from '@/i18n/text';
import { itemWord, word } from '@/vocabulary/delivery';
import type { Order } from './types';
import { isMatchedSince } from './OutcomePanel';
import styles from './order.module.css';

type OrderLine = Order['lines'][number];

// `name`: what it is called above, which is its code where it has no title.
export function LineDetail({ line, name }: { line: OrderLine; name: string }) {
  const code = line.sku ?? line.variantId ?? line.productId;
  const by = line.fileId !== null ? t('orderLine.direct') : line.matchedBy ? word('match.by', line.matchedBy) : null;
  const parts: ReactNode[] = [
    code && code !== name ? (
      <code>
        <Bdi>{code}</Bdi>
      </code>
    ) : null,
    line.quantity > 1 ? t('orderLine.quantity', { count: line.quantity }) : null,
    line.refundedQuantity > 0 ? t('orderLine.refunded', { count: line.refundedQuantity }) : null,
    by,
  ].filter(Boolean);
  return parts.map((part, at) => (
    <span key={at} className={styles.part}>
      {part}
    </span>
  ));
}

// A product that a match serves, or needs none: what it delivered, and how far that is.
export function Line({ line, store, dryRun = false }: { line: OrderLine; store: string; dryRun?: boolean }) {
  const name = line.title ?? line.sku ?? line.productId ?? line.variantId ?? line.fileId ?? line.lineId;
  const left = line.fileCount - line.files.length;
  return (
    <li className={styles.line} data-quiet={line.result === 'ignored' || undefined}>
      <div className={styles.product}>
        <strong>
          <Bdi>{name}</Bdi>
        </strong>
        <LineDetail line={line} name={name} />
      </div>
      <div>
        {line.files.length > 0 ? (
          <ul className={styles.files}>
            {line.files.map((file) => {
              const Icon = file.kind === 'capture' ? IconMicrophone2 : IconWaveSine;
              return (
                <li key={file.itemId} title={file.kind}>
                  <Icon size={16} stroke={1.7} aria-hidden="true" />
                  <Link className={styles.file} to="/presets/$id" params={{ id: file.fileId }} search={{}}>
                    <Bdi>{file.name || file.fileId}</Bdi>
                  </Link>
                  <span data-status={file.status} title={file.status}>
                    {itemWord({ status: file.status, dryRun })}
                  </span>
                </li>
              );
            })}
            {left > 0 ? <li className="muted">{t('orderLine.more', { count: left })}</li> : null}
          </ul>
        ) : (
          <Result line={line} store={store} />
        )}
      </div>
    </li>
  );
}

function Result({ line, store }: { line: OrderLine; store: string }) {
  if (line.result === 'ignored')
    return (
      <span className={styles.result}>
        <IconEyeOff size={16} aria-hidden="true" /> {t('orderLine.ignored')}
      </span>
    );
  const since = isMatchedSince(line);
  const bare = line.result === 'unmapped' && !since;
  return (
    <span className={styles.result} data-amber={bare || undefined}>
      {bare ? <IconAlertTriangle size={16} aria-hidden="true" /> : null}
      <span>
        {since ? (
          <>
            {t('orderLine.now', { count: line.mappingIds.length })}{' '}
            <Link className="link" to="/integrations/stores/$id/products" params={{ id: store }} search={{}}>
              {t('orderLine.matches')}
            </Link>
          </>
        ) : (
          word('orderLine', line.result)
        )}
      </span>
    </span>
  );
}
