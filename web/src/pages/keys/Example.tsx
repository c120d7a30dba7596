// The header that takes a token, and a command to try it. The token is in the text of the page alone, as in the window around it.
import '@/i18n/en/account';
import { useRef } from 'react';
import type { Schemas } from '@/api/client';
import { CopyButton } from '@/components/Copy';
import { t, T } from '@/i18n/text';
import { ALL_PERMISSIONS, type Permission } from '@/vocabulary/keys';
import styles from './keys.module.css';

const HEADER = 'x-api-key';

// A read that each permission opens.
const READS: Partial<Record<Permission, string>> = {
  'deliveries:read': '/api/deliveries',
  'presets:read': '/api/presets',
  integrations: '/api/integrations',
  subscriptions: '/api/webhook-subscriptions',
};

export function Example({ it }: { it: Schemas['IssuedApiKey'] }) {
  const text = useRef<HTMLElement>(null);
  const path = ALL_PERMISSIONS.filter((one) => it.permissions.includes(one)).flatMap((one) => READS[one] ?? [])[0];
  const command = path ? `curl -H '${HEADER}: ${it.secret}' ${window.location.origin}${path}` : null;
  return (
    <div className={styles.example}>
      <p>
        <T k="keysPage.header" values={{ header: <code>{HEADER}</code> }} />
      </p>
      {command ? (
        <>
          <div role="group" aria-label={t('keysPage.example')}>
            <code ref={text} className={styles.command}>
              {command}
            </code>
          </div>
          <CopyButton text={command} label={t('keysPage.example.copy')} source={text} />
        </>
      ) : null}
    </div>
  );
}
