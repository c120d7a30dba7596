// After a new password or address: the tokens that still work, of which one may be somebody else's.
import '@/i18n/en/profile';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Dialog } from '@/components/Dialogs';
import { since } from '@/i18n/format';
import { t } from '@/i18n/text';
import styles from './account.module.css';

// `keys`: null where they could not be read just then.
type Props = { title?: string; keys: Schemas['ApiKey'][] | null; onClose: () => void };

export function PasswordChanged({ title = t('password.done.title'), keys, onClose }: Props) {
  const many = keys?.length ?? 0;
  return (
    <Dialog opened onClose={onClose} title={title}>
      <div className={styles.changed}>
        <p>{t('password.done.text')}</p>
        <p className="muted">
          {keys === null
            ? t('password.done.unread')
            : many === 0
              ? t('password.done.noKeys')
              : t('password.done.keys', { count: many })}
        </p>
        {many > 0 ? (
          <ul>
            {keys?.map((key) => (
              <li key={key.id}>
                <Bdi className="strong">{key.name}</Bdi>
                <code className="muted">{key.preview}</code>
                <span className="muted">{t('password.done.made', { when: since(key.createdAt) })}</span>
              </li>
            ))}
          </ul>
        ) : null}
        <div className={styles.buttons}>
          {keys === null || many > 0 ? (
            <Button component={Link} to="/keys" size="lg">
              {t('password.done.show')}
            </Button>
          ) : null}
          <Button variant="filled" size="lg" onClick={onClose} data-autofocus>
            {t('action.done')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
