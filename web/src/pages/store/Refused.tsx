// Orders of the store are being refused: said on top of every tab of the store.
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { Panel } from '@/components/Panel';
import { useNow } from '@/components/Time';
import { since } from '@/i18n/format';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { lostLine } from '@/vocabulary/lost';
import { openRefusal, type Store } from '@/vocabulary/store';
import styles from './store.module.css';

const CONNECTION = '/integrations/stores/$id/connection';
const SETTINGS = '/integrations/stores/$id/settings';

// The page where the cause of a refusal is mended; null: it is no other page. `here`: on the connection's page, to which all others lead.
function wayOut(code: string, here: boolean) {
  if (code === 'INVALID_SIGNATURE') return { to: CONNECTION, search: { do: 'secret' }, says: 'refused.check' } as const;
  if (!here) return { to: CONNECTION, search: {}, says: 'refused.checkStore' } as const;
  if (code === 'UNAUTHORIZED') return { to: SETTINGS, search: {}, says: 'refused.settings' } as const;
  // A token that is sent is checked whatever the settings say.
  return code === 'FORBIDDEN' ? ({ to: '/keys', search: {}, says: 'refused.tokens' } as const) : null;
}

export function Refused({ it }: { it: Store }) {
  const now = useNow();
  const here = useLocation({ select: ({ pathname }) => pathname.endsWith('/connection') });
  const refusal = openRefusal(it);
  if (!refusal) return null;
  const way = wayOut(refusal.code, here);
  const cause = word('cause', refusal.code);
  const when = since(refusal.lastAt, now);
  return (
    <div className={styles.refused}>
      <Panel tone="red" title={t('refused.title')}>
        <div className={styles.refusedLine}>
          <p>
            {refusal.mendedUntil !== null
              ? t('refused.last', { cause, when })
              : t('refused.text', { count: refusal.count, cause, when })}{' '}
            {lostLine(it)}
            {refusal.code === 'UNAUTHORIZED' && !it.settings.requireApiKey ? ` ${t('refused.tokenOff')}` : ''}
          </p>
          {way ? (
            <Button
              variant="filled"
              renderRoot={(props) => <Link {...props} to={way.to} params={{ id: it.id }} search={way.search} />}
            >
              {t(way.says)}
            </Button>
          ) : null}
        </div>
      </Panel>
    </div>
  );
}
