// The page of the link that confirms an e-mail address. A person presses the button: programs that read mails only open links.
import '@/i18n/en/mail';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ok, open } from '@/api/client';
import { ApiError, errorOfNetwork } from '@/api/errors';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { Frame } from '../sign-in/Frame';
import styles from '../sign-in/sign-in.module.css';
import { useLinkToken } from '../sign-in/useLinkToken';

export function Verify() {
  const token = useLinkToken();
  const page = t('verify.page');
  if (!token)
    return (
      <Frame title={t('verify.none.title')} lead={t('verify.none.body')} page={page}>
        <ToProfile />
      </Frame>
    );
  return <Confirm key={token} token={token} />;
}

function ToProfile() {
  return (
    <Button component={Link} to="/account/profile" size="lg" fullWidth>
      {t('verify.gone.go')}
    </Button>
  );
}

function Confirm({ token }: { token: string }) {
  const [done, setDone] = useState(false);
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const page = t('verify.page');
  async function confirm() {
    if (!begin()) return;
    fail(undefined);
    const asked = open.POST('/api/auth/verify', { body: { token } });
    try {
      await ok(
        asked.catch(() => {
          throw errorOfNetwork();
        }),
      );
      setDone(true);
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  if (done)
    return (
      <Frame title={t('verify.done.title')} lead="" page={page}>
        <p role="status">{t('verify.done.body')}</p>
        <p className={styles.other}>
          <Link className="link" to="/">
            {t('verify.done.go')}
          </Link>
        </p>
      </Frame>
    );
  if (error instanceof ApiError && (error.status === 404 || error.status === 422))
    return (
      <Frame title={t('verify.gone.title')} lead={t('verify.gone.body')} page={page}>
        <ToProfile />
      </Frame>
    );
  return (
    <Frame title={t('verify.title')} lead={t('verify.lead')} page={page}>
      <div className={styles.form}>
        <SignInAlert error={error} left={left} />
        <Button
          variant="filled"
          size="lg"
          fullWidth
          disabled={left > 0}
          aria-disabled={busy || undefined}
          onClick={() => void confirm()}
        >
          {busy ? t('verify.busy') : t('verify.button')}
        </Button>
      </div>
    </Frame>
  );
}
