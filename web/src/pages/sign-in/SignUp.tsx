import { Button, TextInput } from '@mantine/core';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { ApiError, problemsOf } from '@/api/errors';
import { FormError } from '@/components/FormError';
import { NewPasswordField } from '@/components/PasswordField';
import { useSubmit } from '@/components/useSubmit';
import { t, T } from '@/i18n/text';
import { session, useSession } from '@/session';
import { signInConfig } from '@/session/config';
import { useQuery } from '@tanstack/react-query';
import { Issuers } from './Issuers';
import { SignInAlert } from '@/session/SignInAlert';
import { useSignInError } from '@/session/useSignInError';
import { Frame } from './Frame';
import { placeAfter } from './parts';
import styles from './sign-in.module.css';

const route = getRouteApi('/sign-up');
const SAYS_SOMETHING = '.*\\S.*'; // spaces alone are no name

export function SignUp() {
  const search = route.useSearch();
  const state = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [shop, setShop] = useState('');
  const { error, left, fail } = useSignInError();
  const { busy, begin, end } = useSubmit();
  const config = useQuery(signInConfig()).data;
  if (state.name === 'in') return <Navigate to={placeAfter(search.to)} replace />;

  const problems = problemsOf(error);
  const taken = error instanceof ApiError && error.code === 'EMAIL_TAKEN';
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!begin()) return;
    fail(undefined);
    await session.signUp(email.trim(), password, { accountName: shop.trim() }).catch(fail);
    end();
  }
  // The reason why nobody makes an account here by themselves.
  const noWay = config && !config.passwords && config.issuers.length === 0;
  const shut = noWay ? 'closed' : config && config.signup !== 'open' ? config.signup : undefined;
  return (
    <Frame
      title={t(shut ? `signUp.${shut}.title` : 'signUp.title')}
      lead={t(shut ? `signUp.${shut}` : 'signUp.lead')}
      page={t('signUp.page')}
    >
      {shut || config?.passwords === false ? null : (
        <form className={styles.form} onSubmit={(event) => void submit(event)}>
          <TextInput
            label={t('signUp.shop')}
            description={t('signUp.shopHint')}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            name="organization"
            autoComplete="organization"
            size="md"
            required
            pattern={SAYS_SOMETHING}
            title={t('signUp.shopNeeded')}
            maxLength={100}
            value={shop}
            error={problems.accountName}
            onChange={(event) => setShop(event.currentTarget.value)}
          />
          <TextInput
            label={t('signIn.email')}
            type="email"
            name="email"
            autoComplete="username"
            size="md"
            required
            value={email}
            error={taken ? t('signUp.taken') : problems.email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPasswordField
            value={password}
            error={problems.password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <FormError error={error} codes={['EMAIL_TAKEN']}>
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
            {busy ? t('signUp.busy') : t('signUp.button')}
          </Button>
        </form>
      )}
      <Issuers config={config} to={placeAfter(search.to)} />
      <p className={styles.other}>
        <T
          k="signUp.have"
          values={{
            link: (
              <Link className="link" to="/sign-in" search={search}>
                {t('signUp.haveLink')}
              </Link>
            ),
          }}
        />
      </p>
    </Frame>
  );
}
