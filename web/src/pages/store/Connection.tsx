// The address for the shop's orders, the secret that signs them, counts of the requests that came, and the field for the username.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { api, ok } from '@/api/client';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { CopyField } from '@/components/Copy';
import { PasswordField } from '@/components/PasswordField';
import { Loaded } from '@/components/States';
import { OverlapChoice } from '@/components/OverlapChoice';
import { SecretOnce } from '@/components/SecretOnce';
import { useNow } from '@/components/Time';
import { toast } from '@/components/toasts';
import { listed, momentWithin, since } from '@/i18n/format';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import { kindOf, type Store } from '@/vocabulary/store';
import { changed } from '../search';
import { ConnectSteps } from './ConnectSteps';
import { kindFor, neverSentEnds } from './kinds/kinds';
import { useOwnSecret } from './own_secret';
import { RotateSecret } from './RotateSecret';
import { UsernameField } from './UsernameField';
import styles from './store.module.css';

const route = getRouteApi('/inside/integrations/stores/$id/connection');

export function Connection() {
  const { id } = route.useParams();
  const read = useQuery(queries.store(id));
  return (
    <Loaded read={read} what={t('stores.what')}>
      {(it) => (
        <div className={styles.columns}>
          <div className={styles.column}>
            <section className={styles.group}>
              <h2>{t('connection.address')}</h2>
              <p>{t('connection.addressHint')}</p>
              <CopyField label={t('connection.address')} value={it.webhookUrl} />
            </section>
            <Secret it={it} />
            <section className={styles.group}>
              <h2>
                {kindOf(it) === 'generic'
                  ? t('connection.stepsOwn')
                  : t('connection.steps', { kind: word('shop', kindOf(it)) })}
              </h2>
              <p />
              <ConnectSteps it={it} secret={null} username={false} beside />
            </section>
            <section className={styles.group}>
              <h2>{t('connection.username')}</h2>
              <UsernameField it={it} />
            </section>
          </div>
          <div className={styles.column}>
            <Sent it={it} />
          </div>
        </div>
      )}
    </Loaded>
  );
}

// A link to check the secret, from this tab too, brings the control that changes it into view and under the focus.
function useCalled() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const controls = useRef<HTMLDivElement>(null);
  const [called, setCalled] = useState(false);
  const calls = useRef(false);
  const wanted = search.do === 'secret';
  useEffect(() => {
    if (!wanted) return;
    const control = controls.current?.querySelector('button');
    control?.scrollIntoView({ block: 'center' });
    calls.current = true;
    control?.focus({ preventScroll: true });
    calls.current = false;
    void navigate({ search: changed(search, { do: undefined }), replace: true, resetScroll: false });
  }, [wanted, search, navigate]);
  const marks = { onFocus: () => setCalled(calls.current), onBlur: () => setCalled(false) };
  return { controls, section: { ...marks, 'data-called': called || undefined } };
}

function Secret({ it }: { it: Store }) {
  const [asked, setAsked] = useState(false);
  const [overlapSeconds, setOverlap] = useState(86_400);
  const [own, setOwn] = useState('');
  const now = useNow();
  const [shown, setShown] = useState<string | null>(null);
  const { end, note } = useOwnSecret(it);
  const close = () => setAsked(false);
  const { controls, section } = useCalled();
  async function save() {
    const { secret: _, ...changed } = await ok(
      api.POST('/api/integrations/{integration}/rotate-secret', {
        params: { path: { integration: it.id } },
        body: { overlapSeconds, secret: own.trim() },
      }),
    );
    await note(changed);
    toast(t('connection.own.saved'));
    setOwn('');
  }
  return (
    <section className={styles.group} {...section}>
      <h2>{t('connection.secret')}</h2>
      <p>{t('connection.secretHint')}</p>
      {kindFor(it).dictatesSecret && end === null && it.topicsSeen.length === 0 ? (
        <p>{t('connection.own.none')}</p>
      ) : null}
      <div ref={controls} className={styles.row}>
        <code>
          <Bdi>{it.secretPreview}</Bdi>
        </code>
        {kindFor(it).dictatesSecret ? null : <RotateSecret it={it} onSecret={setShown} />}
        <Button onClick={() => setAsked(true)}>{t('connection.own')}</Button>
      </div>
      {it.previousSecretExpiresAt && Date.parse(it.previousSecretExpiresAt) > now ? (
        <p>{t('connection.overlap', { time: momentWithin(it.previousSecretExpiresAt) })}</p>
      ) : null}
      <ConfirmDialog
        opened={asked}
        onClose={close}
        title={t('connection.own.title')}
        body={t('connection.own.body')}
        button={t('connection.own.button')}
        ready={own.trim().length >= 16}
        onConfirm={save}
      >
        <PasswordField
          label={t('steps.secretLabel')}
          autoComplete="off"
          minLength={16}
          maxLength={200}
          value={own}
          onChange={(event) => setOwn(event.currentTarget.value)}
        />
        <OverlapChoice value={overlapSeconds} onChange={setOverlap} />
      </ConfirmDialog>
      <SecretOnce secret={shown} title={t('connection.secretOnce')} onDone={() => setShown(null)} />
    </section>
  );
}

function Sent({ it }: { it: Store }) {
  const now = useNow();
  const unseen =
    it.topicsSeen.length === 0
      ? []
      : kindFor(it)
          .topics.filter(([topic]) => !it.topicsSeen.includes(topic))
          .map(([, name]) => t(name));
  const nothing = it.intake.accepted24h === 0 && it.intake.refused.length === 0;
  return (
    <section className={styles.group}>
      <h2>{t('connection.sent')}</h2>
      {nothing ? (
        <p>{t('connection.nothing')}</p>
      ) : (
        <dl className={styles.rows}>
          <div>
            <dt>{t('connection.accepted')}</dt>
            <dd className="tabular">{it.intake.accepted24h}</dd>
          </div>
          {it.intake.refused.map(({ code, count, lastAt }) => (
            <div key={code}>
              <dt className="red" title={code}>
                {word('cause', code)}
              </dt>
              <dd className="tabular">
                {count}, <span>{t('connection.last', { when: since(lastAt, now) })}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {it.topicsSeen.length > 0 ? (
        <p className={styles.topics}>
          {t('connection.topics')}{' '}
          <code>
            <Bdi>{it.topicsSeen.join(', ')}</Bdi>
          </code>
        </p>
      ) : null}
      {unseen.length > 0 ? <p>{t('connection.unseen', { topics: listed(unseen) })}</p> : null}
      {neverSentEnds(it) ? <p>{t('connection.noRefunds')}</p> : null}
    </section>
  );
}
