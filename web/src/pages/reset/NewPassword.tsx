// The page of the link in the mail: the new password. It signs in, and shows the tokens that are in force.
import '@/i18n/en/mail';
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import type { Schemas } from '@/api/client';
import { ApiError, problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { NewPasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { PasswordChanged } from '../account/PasswordChanged';
import { Frame } from '../sign-in/Frame';
import { AskReset } from './AskReset';
import styles from '../sign-in/sign-in.module.css';

export function NewPassword({ token }: { token: string }) {
  const [password, setPassword] = useState('');
  const [keys, setKeys] = useState<Schemas['ApiKey'][] | null>();
  const [asking, setAsking] = useState(false);
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const navigate = useNavigate();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const page = t('reset.page');
  const problems = problemsOf(error);
  // A link that is not whole is refused as a field.
  const gone = error instanceof ApiError && (error.code === 'LINK_INVALID' || problems.token !== undefined);
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    try {
      setKeys(await session.resetPassword(token, password));
      setPassword('');
    } catch (failure) {
      fail(failure);
      end();
    }
  }
  if (asking) return <AskReset />;
  if (gone)
    return (
      <Frame title={t('reset.gone.title')} lead={t('reset.gone.body')} page={page}>
        <Button variant="filled" size="lg" fullWidth onClick={() => setAsking(true)}>
          {t('reset.gone.button')}
        </Button>
      </Frame>
    );
  return (
    <Frame title={t('reset.new.title')} lead={t('reset.new.lead')} page={page}>
      <form className={styles.form} onSubmit={(event) => void submit(event)}>
        <NewPasswordField
          ref={first}
          label={t('reset.new.label')}
          value={password}
          error={problems.password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormError error={error}>
          <SignInAlert error={error} left={left} />
        </FormError>
        <Button
          type="submit"
          variant="filled"
          size="lg"
          fullWidth
          disabled={left > 0}
          aria-disabled={busy || undefined}
        >
          {busy ? t('reset.new.busy') : t('reset.new.button')}
        </Button>
      </form>
      <p className={styles.other}>
        <Link className="link" to="/sign-in">
          {t('reset.toSignIn')}
        </Link>
      </p>
      {keys === undefined ? null : <PasswordChanged keys={keys} onClose={() => void navigate({ to: '/' })} />}
    </Frame>
  );
}
