// The identity providers that one can sign in with; before the password's form if that is off.
import { Button } from '@mantine/core';
import { t } from '@/i18n/text';
import type { SignInConfig } from '@/session/config';
import styles from './sign-in.module.css';

// As the service takes it: other marks of an address ("status=failed,in_review") are written as bytes.
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
