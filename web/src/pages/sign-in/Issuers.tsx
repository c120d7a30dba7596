// The identity providers with which people can sign in.
import { Button } from '@mantine/core';
import { t } from '@/i18n/text';
import type { SignInConfig } from '@/session/config';
import styles from './sign-in.module.css';

// In the form that the service accepts: other characters ("status=failed,in_review") are percent-encoded.
const plain = (place: string) =>
  place.replace(/[^\w\-.~/?=&%+]/g, (mark) => encodeURIComponent(mark).replace(/^[!'()*]$/, hex));
const hex = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;

export function Issuers({ config, to }: { config: SignInConfig | undefined; to: string }) {
  if (!config || config.issuers.length === 0) return null;
  return (
    <div className={styles.issuers}>
      {config.passwords ? <p className={styles.or}>{t('signIn.or')}</p> : null}
      {config.issuers.map(({ id, name, startUrl }) => (
        <Button
          key={id}
          component="a"
          href={`${startUrl}?returnTo=${encodeURIComponent(plain(to))}`}
          size="lg"
          fullWidth
        >
          {t('signIn.with', { issuer: name })}
        </Button>
      ))}
    </div>
  );
}
