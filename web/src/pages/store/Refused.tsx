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

export function Refused({ it }: { it: Store }) {
  const now = useNow();
  const here = useLocation({ select: ({ pathname }) => pathname.endsWith('/connection') });
  const refusal = openRefusal(it);
  if (!refusal) return null;
  const wrong = refusal.code === 'INVALID_SIGNATURE';
  const forbidden = refusal.code === 'FORBIDDEN'; // whatever the settings say of tokens
  const token = refusal.code === 'UNAUTHORIZED' || forbidden;
  const tab = here && token ? 'settings' : 'connection';
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
          {here && !wrong && !token ? null : (
            <Button
              variant="filled"
              renderRoot={(props) =>
                forbidden && here ? (
                  <Link {...props} to="/keys" search={{}} />
                ) : (
                  <Link
                    {...props}
                    to={`/integrations/stores/$id/${tab}`}
                    params={{ id: it.id }}
                    search={wrong ? { do: 'secret' } : {}}
                  />
                )
              }
            >
              {t(
                wrong
                  ? 'refused.check'
                  : forbidden && here
                    ? 'refused.tokens'
                    : tab === 'settings'
                      ? 'refused.settings'
                      : 'refused.checkStore',
              )}
            </Button>
          )}
        </div>
      </Panel>
    </div>
  );
}
