import '@/i18n/en/account';
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { Fact, FactList, Facts } from '@/components/Facts';
import { PageHeader } from '@/components/PageHeader';
import { Panel } from '@/components/Panel';
import { Loaded } from '@/components/States';
import { Shape } from '@/components/StatusIcon';
import { toast } from '@/components/toasts';
import { useNow } from '@/components/Time';
import { useSubmit } from '@/components/useSubmit';
import { hoursMinutes, since } from '@/i18n/format';
import { t, T } from '@/i18n/text';
import { useIsOwner } from '@/session/useIsOwner';
import { word } from '@/vocabulary/delivery';
import { CloudForm } from './CloudForm';
import styles from './cloud.module.css';

type State = Schemas['Credentials'];

export function Cloud() {
  const read = useQuery(queries.cloud());
  return (
    <div className={styles.page}>
      <PageHeader title={t('cloud.title')} lead={t('cloud.lead')} />
      <Loaded read={read} what={t('cloud.what')}>
        {(state) => <Login state={state} />}
      </Loaded>
    </div>
  );
}

function Login({ state }: { state: State }) {
  const [changing, setChanging] = useState(false);
  const missing = state.status === 'missing';
  const owner = useIsOwner();
  const bad = state.status === 'invalid';
  const form = missing || bad || changing;
  return (
    <div className={styles.columns}>
      <Panel tone={bad ? 'red' : 'plain'}>
        <Line state={state} />
        {form ? (
          <div className={styles.place}>
            <CloudForm
              button={t(missing ? 'cloud.connect' : 'cloud.save')}
              onSaved={() => setChanging(false)}
              onCancel={changing ? () => setChanging(false) : undefined}
            />
          </div>
        ) : null}
        {!form || (bad && owner) ? (
          <Buttons owner={owner === true} quiet={bad} onChange={form ? undefined : () => setChanging(true)} />
        ) : null}
        {missing ? null : <Pause />}
        <p className={styles.sealed}>{t('cloud.sealed')}</p>
      </Panel>
      {missing ? null : <About state={state} />}
    </div>
  );
}

function Line({ state }: { state: State }) {
  const now = useNow();
  const checked = state.checkedAt
    ? t('cloud.checked', { when: since(state.checkedAt, now) })
    : state.savedAt
      ? t('cloud.savedAt', { when: since(state.savedAt, now) })
      : null;
  switch (state.status) {
    case 'valid':
      return (
        <div className={styles.line}>
          <Shape icon="check" colour="teal" size={18} />
          <div>
            <h2>
              <T k="cloud.valid" values={{ name: <Bdi translate="no">{state.cloudUsername}</Bdi> }} />
            </h2>
            <p className="muted">{checked}</p>
          </div>
        </div>
      );
    case 'unchecked':
      return (
        <div className={styles.line}>
          <Shape icon="clock" colour="amber" size={18} />
          <div>
            <h2>{t('cloud.unchecked')}</h2>
            <p className="muted">{checked}</p>
          </div>
        </div>
      );
    case 'invalid':
      return (
        <div className={styles.line}>
          <Shape icon="octagon" colour="red" size={18} />
          <div>
            <h2>{t(state.unreadable ? 'cloud.unreadable' : 'cloud.invalid')}</h2>
            <p className="muted">{t(state.unreadable ? 'cloud.unreadableText' : 'cloud.invalidText')}</p>
          </div>
        </div>
      );
    default:
      return (
        <div className={styles.line}>
          <Shape icon="dashed" colour="grey" size={18} />
          <div>
            <h2>{t('cloud.missing')}</h2>
            <p className="muted">{t('cloud.missingText')}</p>
          </div>
        </div>
      );
  }
}

// Why nothing is done with the account just now, though its login is good.
function Pause() {
  const { data } = useQuery(queries.cloudLimit());
  if (!data?.paused) return null;
  const { reason, until } = data.paused;
  return (
    <div className={styles.pause} role="status">
      <Shape icon="clock" colour="amber" />
      <p>
        <strong>{word('cloud.paused', reason)}</strong>{' '}
        <span className="muted">
          {until ? t('cloud.pausedUntil', { time: hoursMinutes(until) }) : t('cloud.pausedOpen')}
        </span>
      </p>
    </div>
  );
}

// A member can have the login checked, and no more. `onChange`: absent while the form is there.
// `quiet`: the login is refused, so a check is not what helps.
type ButtonsProps = { owner: boolean; quiet: boolean; onChange: (() => void) | undefined };

function Buttons({ owner, quiet, onChange }: ButtonsProps) {
  const { busy, begin, end } = useSubmit();
  const [deleting, setDeleting] = useState(false);
  const client = useQueryClient();
  async function check() {
    if (!begin()) return;
    try {
      client.setQueryData(queries.cloud().queryKey, await ok(api.POST('/api/credentials/validate')));
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) toast(t('cloud.gone'), { tone: 'bad' });
      else
        toast(
          error instanceof ApiError && error.code === 'CLOUD_UNAVAILABLE' ? t('cloud.checkAway') : sentence(error),
          { tone: 'bad' },
        );
      void client.invalidateQueries({ queryKey: ['cloud'] });
    } finally {
      end();
    }
  }
  return (
    <div className={styles.buttons} data-inset="">
      <Button
        variant={quiet ? 'subtle' : 'default'}
        aria-disabled={busy || undefined}
        onClick={() => (busy ? undefined : void check())}
      >
        {busy ? t('cloud.checking') : t('cloud.check')}
      </Button>
      {owner && onChange ? <Button onClick={onChange}>{t('cloud.change')}</Button> : null}
      {owner ? (
        <Button variant="subtle" onClick={() => setDeleting(true)}>
          {t('cloud.delete')}
        </Button>
      ) : null}
      <ConfirmDialog
        opened={deleting}
        onClose={() => setDeleting(false)}
        title={t('cloud.confirmDelete.title')}
        body={t('cloud.confirmDelete.body')}
        button={t('cloud.confirmDelete.button')}
        danger
        onConfirm={async () => {
          await ok(api.DELETE('/api/credentials'));
          toast(t('cloud.deleted'));
          await client.invalidateQueries({ queryKey: ['cloud'] });
          void client.invalidateQueries({ queryKey: ['deliveries'] });
        }}
      >
        {deleting ? <UnderWay /> : null}
      </ConfirmDialog>
    </div>
  );
}

// How many deliveries need the login.
function UnderWay() {
  const { data } = useQuery(queries.deliveryCount({ status: 'queued,processing,waiting_for_friendship' }));
  if (!data) return null;
  const { count = 0, countIsExact } = data;
  return (
    <p role="status">
      {countIsExact === false
        ? t('cloud.confirmDelete.openMany', { n: count })
        : count === 0
          ? t('cloud.confirmDelete.none')
          : t('cloud.confirmDelete.open', { count })}
    </p>
  );
}

// "At least" where there are more deliveries than the service reads for it.
function buyersText(friends: Schemas['Friends']): string {
  const states = (['friends', 'requested', 'declined', 'blocked'] as const).filter(
    (name) => name === 'friends' || friends[name] > 0,
  );
  const list = states.map((name) => t(`cloud.buyers.${name}`, { count: friends[name] })).join(', ');
  return friends.countIsExact ? list : t('cloud.buyersAtLeast', { list });
}

function About({ state }: { state: State }) {
  const presets = useQuery({ ...queries.presets(''), enabled: state.status === 'valid' });
  const count = presets.data?.data.length;
  const limit = useQuery(queries.cloudLimit()).data;
  const friends = useQuery(queries.cloudFriends()).data;
  const now = useNow();
  return (
    <Facts title={t('cloud.login')}>
      <FactList>
        {state.cloudUsername ? (
          <Fact name={t('cloud.user')}>
            <Bdi translate="no">{state.cloudUsername}</Bdi>
          </Fact>
        ) : null}
        {state.maskedEmail ? (
          <Fact name={t('signIn.email')}>
            <Bdi>{state.maskedEmail}</Bdi>
          </Fact>
        ) : null}
        {count === undefined ? null : (
          <Fact name={t('nav.presets')}>{presets.data?.nextCursor ? t('cloud.presetsSome', { n: count }) : count}</Fact>
        )}
        {limit ? (
          <Fact name={t('cloud.limit')}>
            {limit.perMinute === null
              ? t('cloud.limitNone')
              : t('cloud.limitUsed', { n: limit.perMinute, used: limit.usedLast60s })}
          </Fact>
        ) : null}
        {friends ? (
          <>
            <Fact name={t('cloud.buyers')}>{buyersText(friends)}</Fact>
            <Fact name={t('cloud.lastSweep')}>
              {friends.lastSweepAt ? since(friends.lastSweepAt, now) : t('cloud.lastSweepNever')}
            </Fact>
          </>
        ) : null}
      </FactList>
    </Facts>
  );
}
